import CommandLine
import Testing

@testable import journey_replay

@Suite struct DatabaseChoiceTests {
    private func choose(
        _ options: [String: [String]] = [:], environment: [String: String] = [:],
        changes: Bool = false, cluster: String? = nil
    ) throws -> DatabaseChoice {
        try DatabaseChoice.make(
            ParsedCommand(path: ["list"], options: options), environment: environment,
            changes: changes, runningCluster: { _ in cluster })
    }

    private let url = ["DATABASE_URL": "postgresql://me:secret@db.example:5433/live"]

    @Test func `the option wins over the cluster, the cluster over the environment`() throws {
        let named = try choose(
            ["database": ["host=a dbname=b"]], environment: url,
            cluster: "host=/run dbname=postgres")
        #expect(named.source == .option)
        let cluster = try choose(environment: url, cluster: "host=/run dbname=postgres")
        #expect(cluster.source == .cluster(home: ".journeys"))
        #expect(cluster.target.contains("\"journeys\" at /run"))
        #expect(try choose(environment: url).source == .environment)
    }

    @Test func `a bare word is a database's name, and what libpq adds is said`() throws {
        let named = try choose(["database": ["it's"]])
        #expect(named.connectionString == #"dbname='it\'s'"#)
        #expect(named.target.contains("\"it's\" at the local socket"))
        let elsewhere = try choose(
            ["database": ["live"]], environment: ["PGHOST": "db.example", "PGUSER": "me"])
        #expect(elsewhere.target.contains("\"live\" at db.example as me"))
    }

    @Test func `a change is refused while two databases could be meant`() throws {
        let failure = #expect(throws: ReplayFailure.self) {
            try choose(environment: url, changes: true, cluster: "host=/run")
        }
        #expect(failure?.code == .refused)
        let named = try choose(
            ["data": [".journeys"]], environment: url, changes: true, cluster: "host=/run")
        #expect(named.source == .cluster(home: ".journeys"))
    }

    @Test func `no database at all is a matter of usage`() throws {
        #expect(throws: ReplayFailure.self) { try choose() }
        // A home that was named is not silently replaced by another database.
        #expect(throws: ReplayFailure.self) { try choose(["data": ["x"]], environment: url) }
    }

    @Test(arguments: [
        (
            "postgresql://me:p@ss/word@db.example:5433/live?password=hunter2",
            "\"live\" at db.example:5433 as me"
        ),
        ("postgres://db.example", "the role's own at db.example"),
        (
            "host=/var/run user=me password='hun ter2' dbname=live port=5433",
            "\"live\" at /var/run:5433 as me"
        ),
        ("service=shop password=hunter2", "service shop at the local socket"),
        ("hunter2", "the role's own at the local socket"),
    ])
    func `the target never shows a password`(connection: String, place: String) {
        #expect(DatabaseChoice.place(of: connection) == place)
    }
}
