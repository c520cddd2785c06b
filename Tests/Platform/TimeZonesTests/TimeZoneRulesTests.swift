import JSON
import TestMaterial
import Testing
import TimeZones

@Suite struct TimeZoneRulesTests {
    /// The vectors were made with tzdata 2025b. Later releases changed Morocco from 2027 on and moved
    /// one change in Cuba, so those rows are judged only with the older data.
    private static func isChangedLater(_ zone: String, _ local: String) -> Bool {
        (zone == "Africa/Casablanca" && local >= "2027")
            || (zone == "America/Havana" && local.hasPrefix("2026-11-01"))
    }

    @Test func `local times are the instants of the public table`() throws {
        guard let suite = Conformance.folder("suites/dst-local-time") else { return }
        let rows = try #require(try Conformance.json(suite + "/vectors.json")["vectors"]?.array)
        #expect(rows.count == 567)
        print("dst-local-time: \(rows.count) rows read")
        let database = try TimeZoneDatabase()
        var judged: [String: Int] = [:]
        var skipped = 0
        for row in rows {
            let zone = try #require(row["zone"]?.string)
            let local = try #require(row["local"]?.string)
            if database.version > "2025b", Self.isChangedLater(zone, local) {
                skipped += 1
                continue
            }
            let rules = try database.rules(named: zone)
            let date = try #require(CivilDate(String(local.prefix(10))))
            let time = try #require(LocalTime(String(local.dropFirst(11).prefix(5))))
            let resolution = rules.resolve(date, time)
            let earlier = rules.instant(of: date, at: time, inOverlap: .earlier)
            let later = rules.instant(of: date, at: time, inOverlap: .later)
            func instant(_ key: String) throws -> Instant {
                try #require(row[key]?.string.flatMap { Instant($0) })
            }
            let kind = row["kind"]?.string ?? ""
            switch kind {
            case "exact":
                #expect(resolution == .exact(try instant("instant")), "\(row.text)")
                let shown = rules.civilTime(at: earlier)
                #expect(shown.date == date && shown.time == time, "\(row.text)")
            case "gap":
                #expect(
                    resolution == .gap(firstValid: try instant("firstValidAfterGap")), "\(row.text)"
                )
                #expect(earlier == later)
            case "overlap":
                #expect(
                    resolution
                        == .overlap(earlier: try instant("earlier"), later: try instant("later")),
                    "\(row.text)")
                #expect(try earlier == instant("earlier") && later == instant("later"))
            default: Issue.record("a row of no known kind: \(row.text)")
            }
            judged[kind, default: 0] += 1
        }
        #expect(judged.values.reduce(skipped, +) == 567)
        if skipped == 0 {
            #expect(judged == ["exact": 253, "gap": 147, "overlap": 167])
        } else {
            #expect(judged == ["exact": 247, "gap": 142, "overlap": 155])
        }
    }

    /// The smallest file: one offset, no written change, a rule for all time.
    static func file(_ rule: String, offset: Int32 = 0, changes: [(Int64, Int32)] = []) -> [UInt8] {
        func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
            withUnsafeBytes(of: value.bigEndian) { Array($0) }
        }
        func header(_ changes: Int, _ types: Int) -> [UInt8] {
            Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15)
                + [0, 0, 0, changes, types, 4].flatMap { bytes(UInt32($0)) }
        }
        let types = [offset] + changes.map(\.1)
        var file = header(0, 1) + bytes(Int32(0)) + [0, 0] + Array("UTC\0".utf8)
        file += header(changes.count, types.count)
        file += changes.flatMap { bytes($0.0) } + changes.indices.map { UInt8($0 + 1) }
        file += types.flatMap { bytes($0) + [0, 0] } + Array("UTC\0".utf8)
        return file + Array("\n\(rule)\n".utf8)
    }

    private func rules(_ rule: String) throws -> TimeZoneRules {
        try TimeZoneRules(name: "Test/Zone", version: "test", timeZoneFile: Self.file(rule))
    }

    @Test(arguments: [
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2500-03-28T00:59:59Z", 3_600),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2500-03-28T01:00:00Z", 7_200),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2500-10-31T00:59:59Z", 7_200),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2500-10-31T01:00:00Z", 3_600),
        ("IST-1GMT0,M10.5.0,M3.5.0/1", "2040-01-01T00:00:00Z", 0),
        ("IST-1GMT0,M10.5.0,M3.5.0/1", "2040-07-01T00:00:00Z", 3_600),
        ("AEST-10AEDT,M10.1.0,M4.1.0/3", "2040-01-01T00:00:00Z", 39_600),
        ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2040-01-01T00:00:00Z", 39_600),
        ("<-03>3<-02>,M3.5.0/-2,M10.5.0/-1", "2040-07-01T00:00:00Z", -7_200),
        ("EST5EDT,0/0,J365/25", "2040-01-01T04:30:00Z", -14_400),
        ("EST5EDT,0/0,J365/25", "2040-01-01T05:00:00Z", -14_400),
        ("EST5EDT,J60,J300", "2040-02-29T12:00:00Z", -18_000),
        ("EST5EDT,J60,J300", "2040-03-01T07:00:00Z", -14_400),
        ("EST5EDT,59,J300", "2040-02-29T07:00:00Z", -14_400),
        ("<+01>-1", "9999-12-31T23:59:59Z", 3_600),
    ])
    func `a recurring rule holds for ever`(rule: String, at: String, offset: Int) throws {
        #expect(try rules(rule).offset(at: #require(Instant(at))) == offset)
    }

    @Test func `the next change is found across written and recurring ones`() throws {
        let file = Self.file(
            "CET-1CEST,M3.5.0,M10.5.0/3", offset: 600, changes: [(1_000, 1_200), (2_000, 3_600)])
        let zone = try TimeZoneRules(name: "Test/Zone", version: "test", timeZoneFile: file)
        var at = Instant(milliseconds: 0)
        var seen: [String] = []
        for _ in 0..<4 {
            let next = try #require(zone.nextTransition(after: at))
            seen.append("\(next.instant) \(next.offsetBefore) \(next.offsetAfter)")
            at = next.instant
        }
        #expect(
            seen == [
                "1970-01-01T00:16:40.000Z 600 1200", "1970-01-01T00:33:20.000Z 1200 3600",
                "1970-03-29T01:00:00.000Z 3600 7200", "1970-10-25T01:00:00.000Z 7200 3600",
            ])
        #expect(TimeZoneRules.utc.nextTransition(after: at) == nil)
        #expect(try rules("EST5EDT,0/0,J365/25").nextTransition(after: at) == nil)
    }

    /// Before railway time a clock could jump to an odd second.
    @Test func `the first valid time after a gap is a whole minute`() throws {
        let file = Self.file("", changes: [(600, 3_637)])
        let zone = try TimeZoneRules(name: "Test/Zone", version: "test", timeZoneFile: file)
        let date = try #require(CivilDate("1970-01-01"))
        let found = zone.resolve(date, try #require(LocalTime("00:30")))
        #expect(found == .gap(firstValid: Instant(milliseconds: 623_000)))
        #expect(zone.civilTime(at: Instant(milliseconds: 623_000)).time.description == "01:11")
    }

    @Test(arguments: [
        "", "CET", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0", "CET-25",
        "CET-1CEST,M3.5.0,M10.5.0/168", "C-1", "<+01-1", "CET-1CEST,M3.5.7,M10.5.0", "CET-1x",
    ])
    func `a rule that cannot be read damages the file`(rule: String) throws {
        if rule.isEmpty {
            #expect(try rules(rule).offset(at: .latest) == 0)
        } else {
            #expect(throws: TimeZoneProblem.self) { try rules(rule) }
        }
    }

    @Test func `no bytes make the reader trap`() throws {
        let whole = Self.file(
            "CET-1CEST,M3.5.0,M10.5.0/3", changes: [(1_000, 1_200), (2_000, 3_600)])
        for count in 0..<whole.count {
            #expect(throws: TimeZoneProblem.self) {
                try TimeZoneRules(
                    name: "Test/Zone", version: "test", timeZoneFile: Array(whole.prefix(count)))
            }
        }
        for place in whole.indices {
            for byte in [0x00, 0x01, 0x7f, 0x80, 0xff] as [UInt8] {
                var bytes = whole
                bytes[place] = byte
                let zone = try? TimeZoneRules(
                    name: "Test/Zone", version: "test", timeZoneFile: bytes)
                _ = zone?.offset(at: .latest)
                _ = zone?.nextTransition(after: .earliest)
                _ = zone?.resolve(CivilDate(daysSinceEpoch: 0), .midnight)
            }
        }
    }

    @Test func `a rule may count seconds`() throws {
        let zone = try rules("LMT-0:53:28")
        #expect(zone.offset(at: .latest) == 3_208)
        let midnight = zone.resolve(CivilDate(daysSinceEpoch: 0), .midnight)
        #expect(midnight == .exact(Instant(milliseconds: -3_208_000)))
    }
}
