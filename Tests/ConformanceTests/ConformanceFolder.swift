import JSON
import TestMaterial
import Testing

/// Public fixtures and vectors, which lie beside the package when they are there at all.
struct ConformanceFolder {
    let path: String

    /// Nil, after a line that says so, when the folder is absent.
    init?(_ folder: String = "providers") {
        guard let path = Conformance.folder(folder) else { return nil }
        self.path = path
    }

    func bytes(_ name: String) throws -> [UInt8] {
        try #require(Conformance.bytes(of: path + "/" + name))
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
