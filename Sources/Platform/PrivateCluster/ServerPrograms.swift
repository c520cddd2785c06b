internal import Glibc

/// Where the server's programs lie: Debian's versioned directories, then what `PATH` offers.
struct ServerPrograms: Sendable {
    let directory: String

    var initdb: String { directory + "/initdb" }
    var postgres: String { directory + "/postgres" }

    /// The highest version installed, or the one that made the files in `data`.
    ///
    /// - Parameter root: Debian's directory of versions; tests give another.
    static func find(
        data: String, root: String = "/usr/lib/postgresql", path: String? = nil
    ) throws(PrivateClusterError) -> ServerPrograms {
        let wanted = Files.tail(data + "/PG_VERSION").flatMap { text in
            Int(text.split(separator: "\n").first ?? "")
        }
        let installed = Files.names(in: root).compactMap(Int.init).filter { version in
            Files.isExecutable("\(root)/\(version)/bin/postgres")
        }
        if let wanted, installed.contains(wanted) {
            return ServerPrograms(directory: "\(root)/\(wanted)/bin")
        }
        if wanted == nil, let best = installed.max() {
            return ServerPrograms(directory: "\(root)/\(best)/bin")
        }
        for directory in searchPath(path) {
            guard let real = realDirectory(ofProgram: directory + "/postgres"),
                Files.isExecutable(real + "/initdb")
            else { continue }
            if let wanted, !real.contains("/\(wanted)/") { continue }
            return ServerPrograms(directory: real)
        }
        throw .noPostgreSQL(major: wanted)
    }

    private static func searchPath(_ given: String?) -> [String] {
        let path = given ?? getenv("PATH").map { String(cString: $0) } ?? ""
        return path.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
    }

    private static func realDirectory(ofProgram program: String) -> String? {
        guard Files.isExecutable(program), let resolved = realpath(program, nil) else { return nil }
        defer { free(resolved) }
        let text = String(cString: resolved)
        guard let slash = text.lastIndex(of: "/") else { return nil }
        return String(text[..<slash])
    }
}
