import FoundationEssentials

/// The checked-out tree, as text.
struct SourceTree {
    /// A file with its path from the package's root.
    struct File {
        let path: String
        let lines: [Substring]

        var name: String { path.split(separator: "/").last.map(String.init) ?? path }
    }

    static let root: String = {
        var parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        parts.removeLast(3)
        return parts.joined(separator: "/")
    }()

    /// Files below a folder whose names end so, sorted by path; build products left out.
    static func files(under folder: String, ending: String) throws -> [File] {
        let base = root + "/" + folder
        return try FileManager.default.subpathsOfDirectory(atPath: base)
            .filter { $0.hasSuffix(ending) && !$0.hasPrefix(".build") }
            .sorted()
            .map { File(path: folder + "/" + $0, lines: try lines(of: base + "/" + $0)) }
    }

    static func text(of path: String) throws -> String {
        String(decoding: try bytes(of: root + "/" + path), as: UTF8.self)
    }

    /// The text of a file beside the package, or beside a folder that holds it; nil where there is none.
    static func beside(_ path: String) throws -> String? {
        var place = root[...]
        while let slash = place.lastIndex(of: "/") {
            place = place[..<slash]
            let candidate = place + "/" + path
            if FileManager.default.fileExists(atPath: String(candidate)) {
                return String(decoding: try bytes(of: String(candidate)), as: UTF8.self)
            }
        }
        return nil
    }

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root + "/" + path)
    }

    static func entries(of folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root + "/" + folder).sorted()
    }

    private static func lines(of path: String) throws -> [Substring] {
        String(decoding: try bytes(of: path), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
    }

    private static func bytes(of path: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: path))
    }
}

extension Substring {
    var trimmed: Substring {
        var rest = self
        while let first = rest.first, first.isWhitespace { rest.removeFirst() }
        while let last = rest.last, last.isWhitespace { rest.removeLast() }
        return rest
    }

    var indentation: Int { prefix { $0 == " " }.count }
}
