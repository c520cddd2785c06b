import JSON
import JourneyModel
import Postgres
import TestSupport
import Testing
import TimeZones

@testable import journey_replay

@Suite(.timeLimit(.minutes(2)))
struct SubscriptionRowTests {
    private let defaults = SubscriptionRow.Defaults(
        connector: "revenuecat", environment: "production",
        occurredAt: instant("2026-03-01T00:00:00Z"), now: instant("2026-03-02T12:00:00Z"))

    private func row(_ json: JSONValue) throws -> SubscriptionRow {
        try SubscriptionRow(json.object ?? JSONObject(), defaults)
    }

    @Test func `a row of texts and one of JSON values say the same`() throws {
        let texts = try row([
            "customer_id": "u1", "subscription_key": "s1", "status": "active",
            "will_renew": "yes", "expires_at": "1772445600", "price_amount": "9.990",
            "price_currency": "usd", "store": "",
        ])
        let values = try row([
            "customer_id": "u1", "subscription_key": "s1", "status": "active",
            "will_renew": true, "expires_at": "2026-03-02T10:00:00Z",
            "price": ["amount": "9.990", "currency": "USD"], "store": .null,
        ])
        #expect(texts == values)
        #expect(texts.fields["price"] == ["amount": "9.990", "currency": "USD"])
        let now = defaults.now
        #expect(texts.event(now: now).id == values.event(now: now).id)
        var later = texts
        later.occurredAt = later.occurredAt + .seconds(1)
        #expect(later.event(now: now).id != texts.event(now: now).id)
    }

    @Test(
        arguments: [
            (["subscription_key": "s", "status": "active"], "customer_id"),
            (["customer_id": "u", "status": "active"], "subscription_key"),
            (["customer_id": "u", "subscription_key": "s"], "says nothing"),
            (["customer_id": "u", "subscription_key": "s", "status": "ACTIVE"], "no status"),
            (["customer_id": "u", "subscription_key": "s", "expires_at": "soon"], "no time"),
            (["customer_id": "u", "subscription_key": "s", "price_amount": "9"], "currency"),
            (
                [
                    "customer_id": "u", "subscription_key": "s", "status": "active",
                    "occurred_at": "2027-01-01T00:00:00Z",
                ], "future"
            ),
            (["customer_id": "u", "subscription_key": "s", "plan": "x"], "no column \"plan\""),
        ] as [(JSONValue, String)])
    func `a row that cannot be taken says why`(json: JSONValue, words: String) {
        #expect {
            _ = try row(json)
        } throws: { error in
            "\(error)".contains(words)
        }
    }

    @Test func `cells are split as RFC 4180 says`() {
        func cells(_ text: String) -> [String]? { TabularLines.cells(Array(text.utf8)) }
        #expect(cells("a,b,,c") == ["a", "b", "", "c"])
        #expect(cells(#""a,b","say ""hi""",x"#) == ["a,b", #"say "hi""#, "x"])
        #expect(cells(#""open"#) == nil)
    }

    @Test func `a file becomes state once, and bad lines are told by number`() async throws {
        try await StoryWorld.with { world in
            try await TemporaryFolder.with { folder in try await importTwice(folder, world) }
        }
    }

    private func importTwice(_ folder: String, _ world: StoryWorld) async throws {
        func run(_ words: [String]) async throws -> Answer {
            try await ReplayWorld().run(
                ["--database", world.settings.connectionString] + words)
        }
        let file = write(
            "app_user_id,subscription_key,status,expires_at\r\n"
                + "user-1042,s-imported,active,2026-04-01T00:00:00Z\n\nuser-2,,active,\n"
                + "user-3,s3,lapsed,\n", to: "export.csv", in: folder)
        let words = [
            "import-subscriptions", file, "--connector", "revenuecat", "--column",
            "customer_id=app_user_id", "--as-of", "2026-03-01T00:00:00Z", "--reason", "moving",
            "--yes",
        ]
        let refused = try await run(words)
        #expect(refused.code == 1)
        #expect(refused.error.contains("export.csv:4: the column subscription_key is empty."))
        #expect(refused.error.contains("export.csv:5: \"lapsed\" is no status"))
        #expect(refused.error.contains("Nothing was imported"))
        let first = try await run(words + ["--skip-bad"])
        #expect(first.code == 7, "\(first.error)")
        #expect(first.error.contains("1 row imported, 0 known already, 2 skipped"))
        let again = try await run(words + ["--skip-bad"])
        #expect(again.error.contains("0 rows imported, 1 known already"), "\(again.error)")
        try await world.takeTurns()
        let shown = try await world.run("customer", "user-1042", "-o", "json")
        #expect(shown.output.contains("s-imported"), "\(shown.error)")
        #expect(try await world.rows("list").isEmpty)
        let count = try await world.run("deliveries", "count")
        #expect(count.code == 0, "\(count.error)")
    }
}
