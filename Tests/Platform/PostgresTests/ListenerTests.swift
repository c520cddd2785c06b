import Postgres
import PrivateCluster
import Reactor
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2)))
struct ListenerTests {
    @Test func `notifications arrive, and again after the server came back`() async throws {
        try await TemporaryFolder.with { folder in
            let cluster = try PrivateCluster.start(
                home: folder + "/c", settings: TestCluster.fastSettings)
            defer { cluster.stop() }
            try await withEventLoop { loop in
                let settings = PostgresSettings(connectionString: cluster.connectionString)
                let listener = PostgresListener(
                    settings: settings, channels: ["wake_up"], loop: loop)
                let run = Task(executorPreference: loop.tasks) { await listener.run() }
                var events = listener.events.makeAsyncIterator()
                for payload in ["first", "second"] {
                    #expect(await events.next() == .connected)
                    let sender = try await PostgresConnection.connect(settings, on: loop)
                    _ = try await sender.query(
                        SQLStatement("tell", "select pg_notify('wake_up', $1)"), [.text(payload)])
                    await sender.close()
                    let expected = PostgresNotification(channel: "wake_up", payload: payload)
                    #expect(await events.next() == .notified(expected))
                    if payload == "first" { try cluster.restart() }
                }
                run.cancel()
                await run.value
                #expect(await events.next() == nil)
            }
        }
    }
}
