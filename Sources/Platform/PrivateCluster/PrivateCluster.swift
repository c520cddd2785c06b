internal import CLinux
internal import Glibc
internal import Synchronization

/// A PostgreSQL server of one's own under a directory: unix socket only, gone when this process goes.
///
/// Everything here blocks; call it before the event loops start, or from a thread that may wait. The
/// first start takes one to two seconds (`initdb`), later ones less than a tenth.
package struct PrivateCluster: Sendable {
    /// Conninfo for libpq: the role `journey`, a superuser, on the database `postgres`. The operating
    /// system's user who started the cluster may use it, and root may.
    package var connectionString: String { connectionString(database: "postgres") }

    /// The absolute directory.
    package let home: String

    private let places: ClusterPlaces
    private let server: ClusterServer

    /// Starts the cluster under `home`, making it when it is new, and waits until it takes connections.
    ///
    /// - Parameter settings: PostgreSQL settings by name, over the ones of this room.
    package static func start(
        home: String, settings: [String: String] = [:]
    ) throws(PrivateClusterError) -> PrivateCluster {
        let user = try ClusterServer.user()
        let places = ClusterPlaces(home: home, server: user)
        let server = try ClusterServer(places: places, user: user, settings: settings)
        return PrivateCluster(home: places.home, places: places, server: server)
    }

    /// Conninfo of a cluster that runs under `home`, in whatever process; nil when none answers.
    package static func running(home: String) -> String? {
        guard let user = try? ClusterServer.user() else { return nil }
        let places = ClusterPlaces(home: home, server: user)
        guard places.postmaster != nil, places.takesConnections else { return nil }
        return connectionString(places: places, database: "postgres")
    }

    /// Conninfo for another database of this cluster.
    package func connectionString(database: String) -> String {
        Self.connectionString(places: places, database: database)
    }

    /// Whether the server process lives.
    package var isRunning: Bool { server.isRunning }

    /// Ends all sessions, shuts down in order, gives the home free. Waits at most about 20 seconds, after
    /// which the server is killed (the next start recovers).
    package func stop() {
        server.stop()
        server.leave()
    }

    /// Stops in order when it runs, and starts again under the same address.
    package func restart() throws(PrivateClusterError) {
        server.stop()
        try server.launch()
    }

    /// Kills the server with no chance to tidy up, as a power cut would; ``restart()`` brings it back.
    package func kill() { server.kill() }

    private static func connectionString(places: ClusterPlaces, database: String) -> String {
        "host=\(quoted(places.run)) user=\(ClusterServer.role) dbname=\(quoted(database))"
    }

    /// Conninfo values with a backslash, a quote or a blank must be quoted.
    private static func quoted(_ value: String) -> String {
        var text = ""
        for character in value {
            if character == "\\" || character == "'" { text.append("\\") }
            text.append(character)
        }
        return value.contains(" ") || text != value ? "'\(text)'" : value
    }
}
