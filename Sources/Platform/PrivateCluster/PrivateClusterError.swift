/// Why a private cluster did not start; `description` is one sentence for the person at the terminal.
package enum PrivateClusterError: Error, Sendable, Hashable, CustomStringConvertible {
    /// No server program is installed; `major` when existing files ask for a certain version.
    case noPostgreSQL(major: Int?)
    /// Another process holds the home.
    case inUse(home: String)
    /// A call to the system failed.
    case system(action: String, path: String, reason: String)
    /// Neither `postgres` nor `nobody` exists, and the server refuses to run as root.
    case noUnprivilegedUser
    /// The server or `initdb` ended, or never became ready.
    case notReady(what: String, log: String, lastLine: String)

    package var description: String {
        switch self {
        case .noPostgreSQL(nil):
            "no PostgreSQL server is installed here: apt-get install postgresql, then start again"
        case .noPostgreSQL(let major?):
            "the private cluster's files were made by PostgreSQL \(major), which is not installed: "
                + "apt-get install postgresql-\(major), or remove the data directory to start anew"
        case .inUse(let home):
            "another process uses \(home): stop it, or choose another directory"
        case .system(let action, let path, let reason):
            "cannot \(action) \(path): \(reason); make the place usable or choose another directory"
        case .noUnprivilegedUser:
            "PostgreSQL does not run as root and there is no user postgres or nobody: "
                + "apt-get install postgresql, or start as another user"
        case .notReady(let what, let log, let lastLine):
            "\(what)\(lastLine.isEmpty ? "" : " (\(lastLine))"): see \(log)"
        }
    }
}
