internal import Glibc
internal import JourneyStorage
internal import Postgres
internal import PrivateCluster
internal import Reactor

/// A durable PostgreSQL in a folder of its own, and the two loops: one for the product and the floors,
/// one for the load.
final class BenchWorld: Sendable {
    let cluster: PrivateCluster
    let loop = EventLoop()
    let loadLoop = EventLoop()
    /// For what is not measured: preparing, looking, tidying.
    let administration: PostgresPool
    private let folder: String

    /// What PostgreSQL does when nobody configures it, said aloud because it is the point.
    private static let durable = [
        "fsync": "on", "synchronous_commit": "on", "full_page_writes": "on",
        "max_connections": "100", "jit": "on", "shared_buffers": "128MB",
    ]

    static func make(in parent: String, signals: SignalWatch) throws -> BenchWorld {
        var template = Array((parent + "/journey-bench-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            throw BenchFailure(
                description: "no folder can be made in \(parent): "
                    + "\(String(cString: strerror(errno))); name another with --data")
        }
        let folder = String(
            decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        // The server may run as another user.
        chmod(folder, 0o755)
        do {
            let cluster = try PrivateCluster.start(home: folder, settings: durable)
            let world = BenchWorld(cluster, folder)
            world.endOn(signals)
            return world
        } catch {
            removeFolder(folder)
            throw error
        }
    }

    private init(_ cluster: PrivateCluster, _ folder: String) {
        self.cluster = cluster
        self.folder = folder
        administration = PostgresPool(
            settings: Self.settings(cluster, database: "postgres"), size: 1, loop: loop)
    }

    private func endOn(_ signals: SignalWatch) {
        Task(executorPreference: loop.tasks) { [self] in
            for await _ in signals.signals(on: loop) {
                end()
                _exit(130)
            }
        }
    }

    /// Stops the server and removes its folder.
    func end() {
        cluster.stop()
        Self.removeFolder(folder)
    }

    // MARK: Databases

    /// Migrated and otherwise empty; each measure copies it.
    private static let migrated = "bench_migrated"

    /// Migrates the database that all others are copies of.
    func prepare() async throws {
        try await administer("create database \(Self.migrated) template template0")
        _ = try await JourneySchema.migrator.up(settings(database: Self.migrated), on: loop)
        let pool = PostgresPool(
            settings: settings(database: Self.migrated), size: 1, loop: loop)
        try await JourneySchema.ensurePartitions(pool)
        await pool.close()
    }

    /// Makes a database with the schema and nothing in it.
    func makeDatabase(_ name: String) async throws {
        try await administer("create database \(name) template \(Self.migrated)")
    }

    func dropDatabase(_ name: String) async throws {
        try await administer("drop database \(name) with (force)")
    }

    private func administer(_ sql: String) async throws {
        let connection = try await PostgresConnection.connect(
            settings(database: "postgres"), on: loop)
        do {
            try await connection.simple(sql, name: "bench_administer")
        } catch {
            await connection.close()
            throw error
        }
        await connection.close()
    }

    func settings(database: String) -> PostgresSettings {
        Self.settings(cluster, database: database)
    }

    private static func settings(
        _ cluster: PrivateCluster, database: String
    ) -> PostgresSettings {
        PostgresSettings(
            connectionString: cluster.connectionString(database: database),
            applicationName: "journey-bench", statementTimeout: .seconds(120))
    }

    private static func removeFolder(_ path: String) {
        var process = pid_t()
        let words: [String] = ["/bin/rm", "-rf", "--", path]
        let arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        guard posix_spawn(&process, "/bin/rm", nil, nil, arguments, environ) == 0 else { return }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
    }
}
