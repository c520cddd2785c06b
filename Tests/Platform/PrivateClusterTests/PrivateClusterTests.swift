import Glibc
import PrivateCluster
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3)))
struct PrivateClusterTests {
    @Test func `a cluster starts, stops, and starts again with its files`() throws {
        try TemporaryFolder.with { folder in
            let home = folder + "/home"
            #expect(PrivateCluster.running(home: home) == nil)
            for _ in 0..<2 {
                let cluster = try PrivateCluster.start(
                    home: home, settings: TestCluster.fastSettings)
                #expect(cluster.isRunning)
                #expect(cluster.connectionString == "host=\(home)/run user=journey dbname=postgres")
                #expect(cluster.connectionString(database: "x").hasSuffix("dbname=x"))
                #expect(PrivateCluster.running(home: home) == cluster.connectionString)
                cluster.stop()
                #expect(!cluster.isRunning)
                #expect(PrivateCluster.running(home: home) == nil)
            }
        }
    }

    @Test func `blanks, commas and quotes in a home do no harm`() throws {
        try TemporaryFolder.with { folder in
            let home = folder + "/it's, a \"home\""
            let cluster = try PrivateCluster.start(
                home: home, settings: TestCluster.fastSettings)
            defer { cluster.stop() }
            #expect(PrivateCluster.running(home: home) == cluster.connectionString)
            #expect(
                cluster.connectionString
                    == "host='\(folder)/it\\'s, a \"home\"/run' user=journey dbname=postgres")
        }
    }

    @Test func `a second owner of a home is refused`() throws {
        try TemporaryFolder.with { folder in
            let cluster = try PrivateCluster.start(
                home: folder, settings: TestCluster.fastSettings)
            defer { cluster.stop() }
            let error = #expect(throws: PrivateClusterError.self) {
                try PrivateCluster.start(home: folder + "/./x/..")
            }
            #expect(error == .inUse(home: folder))
            #expect(error?.description.contains("another process uses \(folder)") == true)
        }
    }

    @Test func `a killed server starts again`() throws {
        try TemporaryFolder.with { folder in
            let cluster = try PrivateCluster.start(
                home: folder, settings: TestCluster.fastSettings)
            defer { cluster.stop() }
            cluster.kill()
            #expect(!cluster.isRunning)
            try cluster.restart()
            #expect(PrivateCluster.running(home: folder) != nil)
            try cluster.restart()
            #expect(cluster.isRunning)
        }
    }

    @Test func `the server goes with an owner who was killed, and the home is free`() async throws {
        let home = "/tmp/nuxie-killed-owner-\(getpid())"
        defer { TemporaryFolder.remove(home) }
        await #expect(processExitsWith: .signal(SIGKILL)) {
            _ = try PrivateCluster.start(
                home: "/tmp/nuxie-killed-owner-\(getppid())", settings: TestCluster.fastSettings)
            kill(getpid(), SIGKILL)
        }
        let cluster = try PrivateCluster.start(home: home, settings: TestCluster.fastSettings)
        #expect(cluster.isRunning)
        cluster.stop()
    }

    @Test func `root's home may be closed to others`() throws {
        try TemporaryFolder.with { folder in
            let closed = folder + "/closed"
            #expect(mkdir(closed, 0o700) == 0)
            let home = closed + "/home"
            for _ in 0..<2 {
                let cluster = try PrivateCluster.start(
                    home: home, settings: TestCluster.fastSettings)
                defer { cluster.stop() }
                #expect(PrivateCluster.running(home: home) == cluster.connectionString)
            }
            if getuid() == 0 {
                let store = try PrivateClusterTests.store(of: home)
                #expect(store.hasPrefix("/var/lib/nuxie-journeys/"))
                if store.hasPrefix("/var/lib/nuxie-journeys/") { TemporaryFolder.remove(store) }
            }
        }
    }

    /// Where the files of a closed home lie.
    private static func store(of home: String) throws -> String {
        let cluster = try PrivateCluster.start(home: home, settings: TestCluster.fastSettings)
        cluster.stop()
        let run = cluster.connectionString.split(separator: " ")[0].dropFirst("host=".count)
        return String(run.dropLast("/run".count))
    }

    @Test func `a home with a long path gets a short socket`() throws {
        try TemporaryFolder.with { folder in
            let home = folder + "/" + String(repeating: "long-name/", count: 10)
            let cluster = try PrivateCluster.start(
                home: home, settings: TestCluster.fastSettings)
            defer { cluster.stop() }
            #expect(cluster.connectionString.hasPrefix("host=/tmp/nuxie-journeys-"))
            #expect(PrivateCluster.running(home: home) == cluster.connectionString)
        }
    }

    @Test func `a broken setting is told with the server's own words`() throws {
        try TemporaryFolder.with { folder in
            let error = #expect(throws: PrivateClusterError.self) {
                try PrivateCluster.start(home: folder, settings: ["no_such_setting": "1"])
            }
            #expect(error?.description.contains("no_such_setting") == true)
            let cluster = try PrivateCluster.start(
                home: folder, settings: TestCluster.fastSettings)
            cluster.stop()
        }
    }
}
