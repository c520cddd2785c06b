internal import Glibc
internal import Locks

/// The conformance cases that live beside the package, in `shared/conformance`; a copy of the package
/// alone does not have them, and its suites then have nothing to check.
package enum Conformance {
    /// The folder `path` of the conformance cases; nil, after a line that says so once, when absent.
    package static func folder(_ path: String, _ source: StaticString = #filePath) -> String? {
        var place = source.description[...]
        while let slash = place.lastIndex(of: "/") {
            place = place[..<slash]
            let candidate = place + "/shared/conformance/" + path
            if access(String(candidate), R_OK) == 0 { return String(candidate) }
        }
        if told.withLock({ $0.insert(path).inserted }) {
            print("conformance: \(path) absent, suite has nothing to check")
        }
        return nil
    }

    /// Nil when the count is the one expected, else the sentence for the failing expectation.
    package static func require(count: Int, expected: Int, of what: String) -> String? {
        count == expected ? nil : "\(what): \(count) cases were checked, \(expected) are expected"
    }

    /// Names of the entries of a folder, sorted.
    package static func names(in folder: String) -> [String] {
        guard let handle = opendir(folder) else { return [] }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    /// The bytes of a file; nil when it cannot be read.
    package static func bytes(of path: String) -> [UInt8]? {
        guard let file = fopen(path, "rb") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            if count == 0 { return bytes }
            bytes += chunk[..<count]
        }
    }

    private static let told = Guarded<Set<String>>([])
}
