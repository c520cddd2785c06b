internal import CLinux
internal import Glibc

/// The paths of one cluster, a function of its home and of who runs it.
///
/// The server's files lie in the home itself. Root's server runs as another user, and when that user
/// cannot enter the home (`/root` is closed on Debian) they lie under `/var/lib/nuxie-journeys`. The
/// socket moves to `/tmp` when its path would exceed what the kernel takes.
struct ClusterPlaces: Sendable {
    let home: String
    /// Holds `data` and `postgres.log`.
    let store: String
    /// Holds the socket.
    let run: String

    var data: String { store + "/data" }
    var log: String { store + "/postgres.log" }
    var lock: String { home + "/lock" }
    /// Written last: without it `data` is the rest of an interrupted `initdb`.
    var ready: String { home + "/ready" }
    var postmasterFile: String { data + "/postmaster.pid" }
    var socket: String { run + "/.s.PGSQL.5432" }

    /// `sockaddr_un.sun_path` is 108 bytes with its zero.
    static let longestSocketPath = 107

    init(home given: String, server: SystemUser) {
        home = Self.absolute(given)
        let hash = Self.hash(home)
        let isOpen = server.userID == getuid() || Self.isOpenToAll(home)
        store = isOpen ? home : "/var/lib/nuxie-journeys/\(hash)"
        let near = store + "/run"
        run =
            (near + "/.s.PGSQL.5432").utf8.count <= Self.longestSocketPath
            ? near : "/tmp/nuxie-journeys-\(server.userID)-\(hash)"
    }

    private static func absolute(_ path: String) -> String {
        var parts: [Substring] = []
        var whole = path
        if !path.hasPrefix("/") {
            let here = getcwd(nil, 0)
            defer { free(here) }
            whole = (here.map { String(cString: $0) } ?? "") + "/" + path
        }
        for part in whole.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }

    /// Whether every directory on the way that exists may be entered by anyone; ours will be.
    private static func isOpenToAll(_ path: String) -> Bool {
        var place = ""
        for part in path.split(separator: "/") {
            place += "/" + part
            var status = stat()
            guard stat(place, &status) == 0 else { return true }
            if status.st_mode & S_IXOTH == 0 { return false }
        }
        return true
    }

    /// FNV-1a, for a short name that is the same at every start.
    private static func hash(_ text: String) -> String {
        var value: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text.utf8 { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return String(value, radix: 16)
    }

    // MARK: A server that runs there

    /// The process that the server's own lock file names, when that process is a PostgreSQL server.
    var postmaster: pid_t? {
        guard let first = postmasterLines.first, let process = pid_t(first), process > 1 else {
            return nil
        }
        guard let name = Files.tail("/proc/\(process)/comm") else { return nil }
        return name.hasPrefix("postgres") || name.hasPrefix("postmaster") ? process : nil
    }

    /// The server writes `ready` on the eighth line once it takes connections; `pg_ctl` waits for it too.
    func isReady(_ process: pid_t) -> Bool {
        let lines = postmasterLines
        return lines.count >= 8 && lines[0] == "\(process)" && lines[7].hasPrefix("ready")
    }

    private var postmasterLines: [Substring] {
        (Files.tail(postmasterFile) ?? "").split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// Whether something answers on the socket.
    var takesConnections: Bool {
        let descriptor = Glibc.socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(socket.utf8)
        guard bytes.count <= Self.longestSocketPath else { return false }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { general in
                connect(descriptor, general, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }
}
