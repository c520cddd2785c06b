internal import CLinux
internal import Glibc
internal import Locks

/// The lock on a home and the server process that runs there.
final class ClusterServer: Sendable {
    /// The database role of every program that uses the cluster.
    static let role = "journey"

    private let places: ClusterPlaces
    private let user: SystemUser
    private let settings: [String: String]
    private let programs: ServerPrograms
    private let lock: Guarded<Int32>
    private let child = Guarded<ChildProcess?>(nil)

    /// The server's user: us, or when we are root, someone harmless.
    static func user() throws(PrivateClusterError) -> SystemUser {
        guard getuid() == 0 else { return .current }
        guard let user = SystemUser.named("postgres") ?? SystemUser.named("nobody") else {
            throw .noUnprivilegedUser
        }
        return user
    }

    init(
        places: ClusterPlaces, user: SystemUser, settings: [String: String]
    ) throws(PrivateClusterError) {
        self.places = places
        self.user = user
        self.settings = settings
        programs = try ServerPrograms.find(data: places.data)
        try Files.makeDirectories(places.home, mode: 0o755)
        lock = Guarded(try Self.lock(places))
        do throws(PrivateClusterError) {
            try prepare()
            try launch()
        } catch {
            leave()
            throw error
        }
    }

    var isRunning: Bool { child.withLock { $0 }?.process != nil }

    /// Gives the home free, after the server has ended.
    func leave() {
        // A socket's directory in /tmp is nobody's to keep; under the home it stays.
        if places.run != places.store + "/run" { rmdir(places.run) }
        lock.withLock { descriptor in
            if descriptor >= 0 { close(descriptor) }
            descriptor = -1
        }
    }

    func stop() {
        guard let child = child.withLock({ $0 }) else { return }
        // Fast shutdown, then immediate, then none at all.
        for (signal, limit) in [(SIGINT, 15), (SIGQUIT, 5), (SIGKILL, 5)] {
            child.signal(signal)
            if child.waitForEnd(.seconds(limit)) { return }
        }
    }

    func kill() {
        guard let child = child.withLock({ $0 }) else { return }
        child.signal(SIGKILL)
        child.waitForEnd(.seconds(5))
    }

    // MARK: The files

    private static func lock(_ places: ClusterPlaces) throws(PrivateClusterError) -> Int32 {
        let descriptor = open(places.lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Files.failure("open", places.lock) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let isHeld = errno == EWOULDBLOCK
            close(descriptor)
            throw isHeld ? .inUse(home: places.home) : Files.failure("lock", places.lock)
        }
        return descriptor
    }

    private func prepare() throws(PrivateClusterError) {
        if places.store != places.home {
            try Files.makeDirectories(places.store, mode: 0o755)
        }
        try Files.makePrivateDirectory(places.run, owner: user)
        let isMade = Files.exists(places.ready) && Files.exists(places.data + "/PG_VERSION")
        if !isMade { try makeFiles() }
        // The user who starts it may be another one each time.
        let names = Set([SystemUser.current.name, user.name, "root"]).sorted()
        let map = names.map { "own \($0) \(Self.role)\n" }.joined()
        for (name, text) in [
            ("pg_hba.conf", "local all all peer map=own\n"), ("pg_ident.conf", map),
        ] {
            let path = places.data + "/" + name
            try Files.write(text, to: path)
            guard lchown(path, user.userID, user.groupID) == 0 else {
                throw Files.failure("give away", path)
            }
        }
        if !isMade { try Files.write("", to: places.ready) }
    }

    private func makeFiles() throws(PrivateClusterError) {
        try run(["/bin/rm", "-rf", "--", places.data], as: .current, "the old files stayed")
        try Files.makePrivateDirectory(places.data, owner: user)
        var arguments = [
            programs.initdb, "-D", places.data, "-U", Self.role, "-A", "peer",
            "--encoding=UTF8", "--locale=C.UTF-8", "--no-instructions",
        ]
        if settings["fsync"] == "off" { arguments.append("--no-sync") }
        try run(arguments, as: user, "initdb failed")
    }

    private func run(
        _ arguments: [String], as user: SystemUser, _ failure: String
    ) throws(PrivateClusterError) {
        let child = try ChildProcess(arguments, as: user, log: places.log)
        guard child.waitForEnd(.seconds(120)), child.status == 0 else {
            child.signal(SIGKILL)
            throw notReady(failure)
        }
    }

    // MARK: The process

    private static let startLimit = Duration.seconds(60)

    /// Starts the server and waits for it. A server that was killed leaves children that hold its shared
    /// memory for a moment, so a start that follows one is tried again for some seconds.
    func launch() throws(PrivateClusterError) {
        let end = ContinuousClock.now + .seconds(15)
        let isLeftOver = Files.exists(places.postmasterFile)
        try clearLeftOvers(until: end)
        while true {
            let child = try ChildProcess(serverArguments, as: user, log: places.log)
            self.child.withLock { $0 = child }
            if waitUntilReady(child) { return }
            guard isLeftOver, child.status != nil, ContinuousClock.now < end else {
                stop()
                throw notReady("the private PostgreSQL did not start")
            }
            usleep(100_000)
        }
    }

    private func waitUntilReady(_ child: ChildProcess) -> Bool {
        let end = ContinuousClock.now + Self.startLimit
        while let process = child.process, ContinuousClock.now < end {
            if places.isReady(process), places.takesConnections { return true }
            usleep(3_000)
        }
        return false
    }

    /// We hold the lock, so a server that still runs here lost its owner and is shutting down; wait for it.
    ///
    /// `postmaster.pid` stays: it names the shared memory by which a new server sees whether sessions of a
    /// killed one still live. Only a process number that another program got meanwhile is put out.
    private func clearLeftOvers(until end: ContinuousClock.Instant) throws(PrivateClusterError) {
        while let process = places.postmaster {
            guard ContinuousClock.now < end else {
                throw .notReady(
                    what: "an earlier server, process \(process), still runs in \(places.home)",
                    log: places.log, lastLine: "")
            }
            usleep(20_000)
        }
        if let text = Files.tail(places.postmasterFile), let lineEnd = text.firstIndex(of: "\n") {
            try Files.write("\(Int32.max)" + text[lineEnd...], to: places.postmasterFile)
        }
        for path in [places.socket, places.socket + ".lock"] { unlink(path) }
    }

    private var serverArguments: [String] {
        var all = [
            "shared_buffers": "128MB", "max_connections": "60", "timezone": "UTC", "jit": "off",
            "log_timezone": "UTC",
        ]
        all.merge(settings) { $1 }
        // Not to be overruled: the socket is the only door.
        all["listen_addresses"] = ""
        // Quoted, as a comma would end the path.
        let quotes = places.run.split(separator: "\"", omittingEmptySubsequences: false)
        all["unix_socket_directories"] = "\"" + quotes.joined(separator: "\"\"") + "\""
        all["unix_socket_permissions"] = "0700"
        all["port"] = "5432"
        var arguments = [programs.postgres, "-D", places.data]
        for (name, value) in all.sorted(by: { $0.key < $1.key }) {
            arguments += ["-c", "\(name)=\(value)"]
        }
        return arguments
    }

    private func notReady(_ what: String) -> PrivateClusterError {
        let lines = (Files.tail(places.log) ?? "").split(separator: "\n")
        return .notReady(
            what: what, log: places.log, lastLine: String(lines.last?.prefix(300) ?? ""))
    }
}
