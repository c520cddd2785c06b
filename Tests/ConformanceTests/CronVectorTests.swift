import JSON
import Testing
import TimeZones

/// The tables of robfig/cron. Its dialect is another, so an adapter says each row in ours: seconds must be 0
/// and are dropped, `?` is `*`, `TZ=` is the zone.
@Suite struct CronVectorTests {
    private enum Row: Equatable {
        case schedule(CronExpression, zone: String)
        /// What the dialect has and this language refuses.
        case foreign
    }

    private func read(_ spec: String, seconds: Bool) throws -> Row {
        var words = spec.split(separator: " ").map(String.init)
        var zone = "Etc/UTC"
        if let first = words.first, first.contains("TZ=") {
            zone = String(first.drop { $0 != "=" }.dropFirst())
            words.removeFirst()
        }
        if spec.hasPrefix("@") { return .foreign }
        if seconds {
            guard words.first == "0" else { return .foreign }
            words.removeFirst()
        }
        let text = words.map { $0 == "?" ? "*" : $0 }.joined(separator: " ")
        return .schedule(try CronExpression(text), zone: zone)
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// `Mon Jul 9 15:00 2012` (in UTC) or `2012-03-11T00:00:00-0500`, with `TZ=…` before it or not.
    private func instant(_ text: String) throws -> Instant {
        let words = text.split(separator: " ").map(String.init).filter { !$0.hasPrefix("TZ=") }
        if words.count == 1 {
            let word = words[0]
            return try #require(Instant("\(word.dropLast(2)):\(word.suffix(2))"))
        }
        let month = try #require(Self.months.firstIndex(of: words[1])) + 1
        let day = try #require(Int(words[2]))
        let year = try #require(Int(words[4]))
        let date = try #require(CivilDate(year: year, month: month, day: day))
        let time = words[3].count == 5 ? words[3] + ":00" : words[3]
        return try #require(Instant("\(date)T\(time)Z"))
    }

    private func zone(_ name: String, _ from: String, _ zones: TimeZoneDatabase) throws
        -> TimeZoneRules
    {
        let named = from.split(separator: " ").first.map(String.init) ?? ""
        return try zones.rules(
            named: named.hasPrefix("TZ=") ? String(named.dropFirst(3)) : name)
    }

    @Test func `schedules match and fire as the public tables say`() throws {
        guard let folder = ConformanceFolder("suites/cron-robfig") else { return }
        let suite = try folder.json("vectors.json")
        let zones = try TimeZoneDatabase()
        var (matched, fired, foreign) = (0, 0, 0)
        for row in suite["activation"]?.array ?? [] {
            let spec = try #require(row["spec"]?.string)
            guard case .schedule(let cron, _) = try read(spec, seconds: false) else {
                foreign += 1
                continue
            }
            let at = try instant(try #require(row["time"]?.string))
            matched += 1
            #expect(
                (cron.next(after: at - .milliseconds(1), in: .utc) == at) == row["matches"]?.bool,
                "\(spec)")
        }
        let skipped = "a time in a gap fires once, at the first valid minute (workflow.md)"
        let repeated = "a repeated time fires once, at the first (workflow.md)"
        var deviations = Deviations([
            "0 30 2 11 Mar ? from 2012-03-11T00:00:00-0500": skipped,
            "0 0 2 * * ? from 2012-03-11T00:00:00-0500": skipped,
            "0 30 1 04 Nov ? from 2012-11-04T01:45:00-0400": repeated,
            "0 0 1 * * ? from 2012-11-04T01:00:00-0400": repeated,
        ])
        let seconds = (suite["next"]?.array ?? []).map { ($0, true) }
        let minutes = (suite["nextWithTz"]?.array ?? []).map { ($0, false) }
        for (row, hasSeconds) in seconds + minutes {
            let spec = try #require(row["spec"]?.string)
            let from = try #require(row["from"]?.string)
            guard case .schedule(let cron, let name) = try read(spec, seconds: hasSeconds) else {
                foreign += 1
                continue
            }
            let rules =
                hasSeconds
                ? try zone(name, from, zones)
                : TimeZoneRules(name: "+0530", fixedOffsetSeconds: 19_800, version: "fixed")
            fired += 1
            let fields = spec.split(separator: " ").filter { !$0.contains("TZ=") }
            let place = from.split(separator: " ").filter { !$0.contains("TZ=") }
            deviations.check(
                "\(fields.joined(separator: " ")) from \(place.joined(separator: " "))",
                cron.next(after: try instant(from), in: rules),
                try row["next"]?.string.map { try instant($0) })
        }
        deviations.finish()
        let invalid = suite["invalid"]?.array ?? []
        for row in invalid {
            let spec = try #require(row.string)
            #expect(throws: CronError.self) { try CronExpression(spec) }
        }
        #expect(matched == 20)
        #expect(fired == 56)
        #expect(foreign == 15)
        #expect(invalid.count == 4)
    }
}
