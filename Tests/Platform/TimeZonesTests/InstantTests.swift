import JSON
import TestMaterial
import Testing
import TimeZones

@Suite struct InstantTests {
    @Test func `date-times are read as the schema suite says`() throws {
        guard let rows = try Conformance.format("date-time") else { return }
        #expect(rows.count == 27)
        print("json-schema-duration: \(rows.count) date-time rows checked")
        for (text, isValid) in rows {
            #expect((Instant(text) != nil) == isValid, "\(text)")
        }
    }

    /// A time alone is no instant, so each is set on a date.
    @Test func `times of day are read as the schema suite says`() throws {
        guard let rows = try Conformance.format("time") else { return }
        #expect(rows.count == 41)
        print("json-schema-duration: \(rows.count) time rows checked")
        for (text, isValid) in rows {
            #expect((Instant("2026-11-30T" + text) != nil) == isValid, "\(text)")
        }
    }

    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0 as Int64), ("1969-12-31T23:59:59.999Z", -1),
        ("2026-11-30T10:00:00.5+05:30", 1_796_013_000_500),
        ("2000-02-29 00:00:00Z", 951_782_400_000),
        ("1998-12-31T23:59:60.9Z", 915_148_800_000),
        ("1985-04-12T23:20:50.9999999Z", 482_196_050_999),
        ("0000-01-01T00:00:00Z", -62_167_219_200_000),
        ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
    ])
    func `an instant is milliseconds since 1970`(text: String, milliseconds: Int64) {
        #expect(Instant(text)?.milliseconds == milliseconds)
    }

    @Test(arguments: [
        "0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "9999-12-31T23:59:60Z",
        "2025-02-29T00:00:00Z", "2026-11-30", "2026-11-30T10:00Z", "2026-11-30T10:00:00", "",
        "2026-11-30T10:00:00.Z", " 2026-11-30T10:00:00Z", "2026-11-30T10:00:00+0530",
    ])
    func `another text is no instant`(text: String) {
        #expect(Instant(text) == nil)
    }

    @Test func `what is written is read back`() {
        for milliseconds in [0, -1, 1_796_000_000_123, -62_167_219_200_000, 253_402_300_799_999]
            as [Int64]
        {
            let instant = Instant(milliseconds: milliseconds)
            #expect(Instant(instant.description) == instant)
        }
        #expect(Instant(milliseconds: -1).description == "1969-12-31T23:59:59.999Z")
    }

    @Test func `arithmetic stops at the ends of the calendar`() {
        let day = Duration.seconds(86_400)
        #expect(Instant(milliseconds: 0) + day == Instant(milliseconds: 86_400_000))
        #expect(Instant(milliseconds: 0) - day == Instant(milliseconds: -86_400_000))
        #expect(Instant.latest + day == .latest)
        #expect(Instant.earliest - day == .earliest)
        #expect(Instant.latest + .seconds(Int64.max) == .latest)
        #expect(Instant.earliest - .seconds(Int64.max) == .earliest)
        #expect(Instant.latest - .seconds(Int64.min) == .latest)
        #expect(Instant(milliseconds: 1) - Instant(milliseconds: 4) == .milliseconds(-3))
        #expect(Instant(milliseconds: .max) - Instant(milliseconds: .min) > .zero)
        #expect(Instant(milliseconds: .max).description == "9999-12-31T23:59:59.999Z")
        #expect(Instant(milliseconds: .min).description == "0000-01-01T00:00:00.000Z")
        #expect(Duration.seconds(Int64.max).wholeMilliseconds == .max)
        #expect(Duration.microseconds(-1_999).wholeMilliseconds == -1)
    }

    @Test func `dates follow the calendar`() throws {
        var date = try #require(CivilDate(year: 1999, month: 12, day: 31))
        for _ in 0..<(366 + 365) {
            let next = date.adding(days: 1)
            #expect(next.daysSinceEpoch == date.daysSinceEpoch + 1)
            #expect(next > date)
            #expect(next.isoWeekday == date.isoWeekday % 7 + 1)
            #expect(CivilDate(next.description) == next)
            date = next
        }
        #expect(date.description == "2001-12-31")
        #expect(CivilDate(year: 1900, month: 2, day: 29) == nil)
        #expect(CivilDate(year: 2000, month: 2, day: 29)?.isoWeekday == 2)
        #expect(CivilDate(daysSinceEpoch: .max).description == "9999-12-31")
        #expect(CivilDate(daysSinceEpoch: .min).description == "0000-01-01")
        #expect(date.adding(days: .max).description == "9999-12-31")
        #expect(CivilDate("2026-1-01") == nil)
        #expect(CivilDate("2026-11-31") == nil)
    }

    @Test(arguments: ["00:00", "09:30", "23:59"])
    func `a local time is written as it is read`(text: String) throws {
        #expect(try #require(LocalTime(text)).description == text)
    }

    @Test(arguments: ["24:00", "9:30", "09:60", "09:30:00", "", "0930", " 09:30", "09.30", "٠٩:٣٠"])
    func `another text is no local time`(text: String) {
        #expect(LocalTime(text) == nil)
    }

    @Test func `local times are ordered within the day`() throws {
        let morning = try #require(LocalTime(hour: 9, minute: 5))
        #expect(LocalTime.midnight < morning)
        #expect(morning.hour == 9 && morning.minute == 5)
        #expect(LocalTime(hour: 24, minute: 0) == nil)
        #expect(LocalTime(hour: 0, minute: -1) == nil)
    }
}
