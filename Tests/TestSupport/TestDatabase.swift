internal import Glibc
package import Postgres
internal import PrivateCluster
package import Reactor
internal import Synchronization

/// A database of a test's own, in the shared cluster.
package enum TestDatabase {
    private static let made = Atomic<Int>(0)
    private static let loop = EventLoop()

    /// Makes an empty database, runs `body` with its conninfo, and drops it with whatever uses it.
    package static func withDatabase<Value: Sendable>(
        _ body: @escaping @Sendable (String) async throws -> Value
    ) async throws -> Value {
        let name = "t\(made.add(1, ordering: .relaxed).newValue)_\(getpid())"
        let cluster = TestCluster.shared
        try await administer("create database \(name) template template0")
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
        _ body: @escaping @Sendable (PostgresSettings, EventLoop) async throws -> Value
    ) async throws -> Value {
        try await withDatabase { conninfo in
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
