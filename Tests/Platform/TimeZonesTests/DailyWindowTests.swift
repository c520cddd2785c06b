import Testing
import TimeZones

/// Windows of the day on clocks that are set (S7).
@Suite struct DailyWindowTests {
    private func window(_ start: String, _ end: String, _ days: Set<Weekday>? = nil) -> DailyWindow
    {
        DailyWindow(
            start: LocalTime(start) ?? .midnight, end: LocalTime(end) ?? .midnight,
            days: days ?? Set(Weekday.allCases))
    }

    private func instant(_ text: String) throws -> Instant { try #require(Instant(text)) }

    private func berlin() throws -> TimeZoneRules {
        try TimeZoneDatabase().rules(named: "Europe/Berlin")
    }

    // S7.3
    @Test func `a window holds its start and not its end`() throws {
        let window = window("09:00", "17:00")
        let table: [(String, Bool, String?, String?)] = [
            ("2026-07-01T08:59:59.999Z", false, "2026-07-01T09:00:00Z", nil),
            ("2026-07-01T09:00:00Z", true, nil, "2026-07-01T17:00:00Z"),
            ("2026-07-01T16:59:59.999Z", true, nil, "2026-07-01T17:00:00Z"),
            ("2026-07-01T17:00:00Z", false, "2026-07-02T09:00:00Z", nil),
        ]
        for (at, isOpen, opens, closes) in table {
            let state = window.state(at: try instant(at), in: .utc)
            #expect(state.isOpen == isOpen)
            #expect(state.opensAt == opens.flatMap { Instant($0) })
            #expect(state.closesAt == closes.flatMap { Instant($0) })
        }
    }

    @Test func `an end before the start is on the next day, and the weekday is the start's`() throws
    {
        // 2026-07-03 is a Friday.
        let window = window("22:00", "02:00", [.friday])
        #expect(window.state(at: try instant("2026-07-03T23:00:00Z"), in: .utc).isOpen)
        let saturday = window.state(at: try instant("2026-07-04T01:59:00Z"), in: .utc)
        #expect(saturday.isOpen)
        #expect(saturday.closesAt == Instant("2026-07-04T02:00:00Z"))
        let friday = window.state(at: try instant("2026-07-03T01:00:00Z"), in: .utc)
        #expect(!friday.isOpen)
        #expect(friday.opensAt == Instant("2026-07-03T22:00:00Z"))
    }

    @Test func `equal ends are 24 hours: every day they never close`() throws {
        let always = window("10:00", "10:00").state(
            at: try instant("2026-07-03T09:00:00Z"), in: .utc)
        #expect(always.isOpen)
        #expect(always.closesAt == nil)
        let friday = window("10:00", "10:00", [.friday])
        let state = friday.state(at: try instant("2026-07-04T09:00:00Z"), in: .utc)
        #expect(state.isOpen)
        #expect(state.closesAt == Instant("2026-07-04T10:00:00Z"))
        #expect(!friday.state(at: try instant("2026-07-04T10:00:00Z"), in: .utc).isOpen)
    }

    // S7.2 S7.3
    @Test func `in a spring gap a start is the first valid minute, and what lies in it is skipped`()
        throws
    {
        let berlin = try berlin()
        // On 2026-03-29 two o'clock becomes three.
        let half = window("02:30", "04:00")
        #expect(
            half.firstOpening(from: try instant("2026-03-29T00:30:00Z"), in: berlin)
                == Instant("2026-03-29T01:00:00Z"))
        let lost = window("02:10", "02:50")
        #expect(
            lost.firstOpening(from: try instant("2026-03-29T00:00:00Z"), in: berlin)
                == Instant("2026-03-30T00:10:00Z"))
    }

    // S7.2
    @Test func `in an autumn overlap a start is the earlier and an end the later`() throws {
        let berlin = try berlin()
        // On 2026-10-25 three o'clock becomes two.
        let window = window("02:15", "02:45")
        let state = window.state(at: try instant("2026-10-25T00:15:00Z"), in: berlin)
        #expect(state.isOpen)
        #expect(state.closesAt == Instant("2026-10-25T01:45:00Z"))
        #expect(!window.state(at: try instant("2026-10-25T00:14:59Z"), in: berlin).isOpen)
    }

    @Test func `a day that a calendar leaves out does not keep a window open or shut`() throws {
        // Samoa had no 2011-12-30.
        let apia = try TimeZoneDatabase().rules(named: "Pacific/Apia")
        let window = window("22:00", "02:00")
        let state = window.state(at: try instant("2011-12-30T08:30:00Z"), in: apia)
        #expect(state.isOpen)
        #expect(state.closesAt == Instant("2011-12-30T12:00:00Z"))
    }

    // S7.1
    @Test func `a duration is elapsed time, whatever clocks do meanwhile`() throws {
        let berlin = try berlin()
        let before = try instant("2026-03-28T11:00:00Z")
        let after = before + .seconds(86_400)
        #expect(berlin.civilTime(at: before).hour == 12)
        #expect(berlin.civilTime(at: after).hour == 13)
    }

    @Test func `a set of zones knows every name that the database lists`() throws {
        let database = try TimeZoneDatabase()
        let zones = database.everyZone()
        #expect(zones.version == database.version)
        #expect(zones.names == database.names)
        #expect(zones.rules(named: "Europe/Berlin") == (try berlin()))
        #expect(zones.rules(named: "Atlantis/Port") == nil)
        #expect(TimeZoneSet.utcOnly.rules(named: "Etc/UTC") == .utc)
    }
}
