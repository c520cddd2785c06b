internal import FoundationEssentials

/// The package's own files, wherever it lies and from wherever the tests run. Paths are relative to its
/// root.
package enum PackageFiles {
    /// The package's root, without a slash at its end.
    package static let root: String = {
        var path = #filePath[...]
        for _ in 0..<3 { path = path[..<(path.lastIndex(of: "/") ?? path.startIndex)] }
        return String(path)
    }()

    package static func path(_ name: String) -> String { root + "/" + name }

    /// The entries of a folder, sorted.
    package static func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path(folder)).sorted()
    }

    package static func bytes(of name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: path(name))))
    }

    package static func exists(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: path(name))
    }

    /// Writes a fixture that a test records, with the folders it needs.
    package static func write(_ text: String, to name: String) throws {
        let url = URL(filePath: path(name))
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }
}
