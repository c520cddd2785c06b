import Testing
import TimeZones

/// When a schedule fires where clocks are set.
@Suite struct CronFiringTests {
    private func firings(
        _ text: String, from: String, count: Int, in zone: TimeZoneRules
    ) throws -> [String] {
        let cron = try CronExpression(text)
        var instant = try #require(Instant(from))
        return try (0..<count).map { _ in
            instant = try #require(cron.next(after: instant, in: zone))
            return instant.description
        }
    }

    private func berlin() throws -> TimeZoneRules {
        try TimeZoneDatabase().rules(named: "Europe/Berlin")
    }

    @Test func `a time in a gap fires once, at the first valid minute`() throws {
        #expect(
            try firings("0,30 2 * * *", from: "2026-03-28T12:00:00Z", count: 2, in: berlin()) == [
                "2026-03-29T01:00:00.000Z", "2026-03-30T00:00:00.000Z",
            ])
    }

    @Test func `a repeated time fires once, at the first`() throws {
        #expect(
            try firings("30 2 * * *", from: "2026-10-24T12:00:00Z", count: 2, in: berlin()) == [
                "2026-10-25T00:30:00.000Z", "2026-10-26T01:30:00.000Z",
            ])
    }

    @Test func `every hour, and every second one, follows elapsed hours`() throws {
        #expect(
            try firings("0 * * * *", from: "2026-10-24T23:30:00Z", count: 4, in: berlin()) == [
                "2026-10-25T00:00:00.000Z", "2026-10-25T01:00:00.000Z", "2026-10-25T02:00:00.000Z",
                "2026-10-25T03:00:00.000Z",
            ])
        #expect(
            try firings("0 */2 * * *", from: "2026-03-28T22:30:00Z", count: 2, in: berlin()) == [
                "2026-03-28T23:00:00.000Z", "2026-03-29T02:00:00.000Z",
            ])
    }

    @Test func `either day field will do when both restrict, and a rare day is found`() throws {
        #expect(
            try firings("0 9 13 * FRI", from: "2026-03-01T00:00:00Z", count: 3, in: .utc) == [
                "2026-03-06T09:00:00.000Z", "2026-03-13T09:00:00.000Z", "2026-03-20T09:00:00.000Z",
            ])
        #expect(
            try firings("0 0 29 2 *", from: "2096-03-01T00:00:00Z", count: 1, in: .utc)
                == ["2104-02-29T00:00:00.000Z"])
        let never = try CronExpression("0 0 30 2 *")
        #expect(never.next(after: try #require(Instant("2026-01-01T00:00:00Z")), in: .utc) == nil)
    }
}
