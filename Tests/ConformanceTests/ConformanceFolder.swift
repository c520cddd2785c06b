import FoundationEssentials
import JSON

/// Public fixtures and vectors, which lie beside the package when they are there at all.
struct ConformanceFolder {
    let path: String

    /// Nil, after a line that says so, when the folder is absent.
    init?(for suite: String, in folder: String = "providers") {
        var parts = #filePath.split(separator: "/").dropLast(3)
        while !parts.isEmpty {
            parts.removeLast()
            let path = "/" + (parts + ["shared/conformance/\(folder)"]).joined(separator: "/")
            if FileManager.default.fileExists(atPath: path) {
                self.path = path
                return
            }
        }
        print("skipped: no shared/conformance/\(folder) beside the package, needed by \(suite)")
        return nil
    }

    func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path + "/" + name)))
    }

    func json(_ name: String) throws -> JSONValue { try JSONParser.parse(try bytes(name)) }

    /// The vectors of one file.
    func vectors(_ name: String) throws -> [JSONValue] {
        try json("vectors/\(name).json")["vectors"]?.array ?? []
    }
}

/// How many rows a suite may have: the folder holds a selection of a larger collection, or all of it.
struct ExpectedCount {
    let selection: Int
    let whole: Int

    func admits(_ count: Int) -> Bool { count == selection || count == whole }
}
