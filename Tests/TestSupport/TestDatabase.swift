internal import Glibc
package import Postgres
internal import PrivateCluster
package import Reactor
internal import Synchronization

/// A database of a test's own, in the shared cluster.
package enum TestDatabase {
    private static let made = Atomic<Int>(0)
    private static let loop = EventLoop()
    private static let templates = Templates()

    /// Databases that others are copies of: to migrate each anew would be most of what a test does.
    private actor Templates {
        private var made: [[String]: Task<String, any Error>] = [:]

        func name(for migrator: Migrator) async throws -> String {
            let key = [migrator.schema] + migrator.migrations.map(\.checksum)
            if let making = made[key] { return try await making.value }
            let name = "template\(made.count)_\(getpid())"
            let making = Task {
                try await TestDatabase.administer("create database \(name) template template0")
                let conninfo = TestCluster.shared.connectionString(database: name)
                try await withEventLoop { loop in
                    _ = try await migrator.up(
                        PostgresSettings(connectionString: conninfo), on: loop)
                }
                return name
            }
            made[key] = making
            return try await making.value
        }
    }

    /// Makes an empty database, runs `body` with its conninfo, and drops it with whatever uses it.
    ///
    /// - Parameter migrator: brings the schema forward, once a process: the first database that asks for it
    ///   is a copy of what it made, and so is every other.
    package static func withDatabase<Value: Sendable>(
        migrated migrator: Migrator? = nil,
        _ body: @escaping @Sendable (String) async throws -> Value
    ) async throws -> Value {
        let name = "t\(made.add(1, ordering: .relaxed).newValue)_\(getpid())"
        let cluster = TestCluster.shared
        var template = "template0"
        if let migrator { template = try await templates.name(for: migrator) }
        try await administer("create database \(name) template \(template)")
        let result: Result<Value, any Error>
        do {
            result = .success(try await body(cluster.connectionString(database: name)))
        } catch {
            result = .failure(error)
        }
        try await administer("drop database if exists \(name) with (force)")
        return try result.get()
    }

    /// Makes an empty database and a loop, and runs `body` in a task of the loop.
    package static func withDatabaseAndLoop<Value: Sendable>(
        migrated migrator: Migrator? = nil,
        _ body: @escaping @Sendable (PostgresSettings, EventLoop) async throws -> Value
    ) async throws -> Value {
        try await withDatabase(migrated: migrator) { conninfo in
            try await withEventLoop { loop in
                try await body(PostgresSettings(connectionString: conninfo), loop)
            }
        }
    }

    private static func administer(_ sql: String) async throws {
        let settings = PostgresSettings(
            connectionString: TestCluster.shared.connectionString, connectTimeout: .seconds(30))
        try await loop.run { () async throws(PostgresError) in
            let connection = try await PostgresConnection.connect(settings, on: loop)
            do throws(PostgresError) {
                try await connection.simple(sql, name: "administer")
            } catch {
                await connection.close()
                throw error
            }
            await connection.close()
        }
    }
}
