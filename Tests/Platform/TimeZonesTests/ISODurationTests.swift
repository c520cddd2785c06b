import JSON
import TestMaterial
import Testing
import TimeZones

@Suite struct ISODurationTests {
    /// Valid there, refused here: years and months have no fixed length, and one is past the bound.
    private static let refusedHere: Set<String> = [
        "P4Y", "P1M", "P1Y2M3DT4H5M6S", "P1Y2M3D", "P1M2D", "P10Y10M10DT10H10M10S", "P1Y2M",
        "P999999999999999999999999999999999999999999999999999999999999999999999999999999D",
    ]

    @Test func `durations are read as the schema suite says but for years and months`() throws {
        guard let rows = try Conformance.format("duration") else { return }
        #expect(rows.count == 46)
        print("json-schema-duration: \(rows.count) duration rows checked")
        var refused: Set<String> = []
        for (text, isValid) in rows {
            let isRead = Duration(iso8601: text) != nil
            if isValid, !isRead {
                refused.insert(text)
            } else {
                #expect(isRead == isValid, "\(text)")
            }
        }
        #expect(refused == Self.refusedHere)
    }

    // S7.1
    @Test(arguments: [
        ("PT0S", 0 as Int64), ("P0D", 0), ("PT30S", 30), ("PT1M", 60), ("PT36H", 129_600),
        ("P1DT12H", 129_600), ("P2W", 1_209_600), ("P4DT12H30M5S", 390_605), ("P01D", 86_400),
        ("P3660000D", 316_224_000_000),
    ])
    func `a day is 24 hours and a week 168`(text: String, seconds: Int64) {
        #expect(Duration(iso8601: text) == .seconds(seconds))
    }

    @Test(arguments: [
        ("P1Y", "counts years, which have no fixed length; write days"),
        ("P1M", "counts months, which have no fixed length; write days"),
        ("-PT1S", "has a sign; durations are never negative, so begin with P"),
        ("PT0.5S", "has a fraction; write whole numbers"),
        ("PT1H2S", "leaves the minutes out; write them as 0M between H and S"),
        ("P1WT1H", "combines weeks with other units; write the weeks as days"),
        ("30", "does not begin with P; write it like PT30S or P2D"),
        ("P3660001D", "is longer than 3660000 days"),
        ("P1D2H", "goes on after the days without T; hours follow as in P1DT2H"),
        ("PT5", "has \"nothing\" where one of H, M, S belongs, in this order"),
    ])
    func `a refusal says what to write`(text: String, reason: String) {
        let error = #expect(throws: ISODurationError.self) { try ISODuration.parse(text) }
        #expect(error?.description == "The duration \"\(text)\" \(reason).")
    }

    @Test func `a machine's settings may have fractions of seconds`() throws {
        #expect(try ISODuration.parse("PT0.25S", allowsFraction: true) == .milliseconds(250))
        #expect(
            try ISODuration.parse("PT1M0.000000001S", allowsFraction: true) == .seconds(60)
                + .nanoseconds(1))
        for text in ["PT0,5S", "PT0.S", "PT.5S", "PT1.5M", "PT0.0000000001S", "P1.5D", "PT1.5H"] {
            #expect(throws: ISODurationError.self) {
                try ISODuration.parse(text, allowsFraction: true)
            }
        }
    }

    @Test(arguments: [
        (Duration.zero, "PT0S"), (.seconds(3_602), "PT1H0M2S"), (.seconds(86_400), "P1D"),
        (.seconds(129_600), "P1DT12H"), (.milliseconds(250), "PT0.25S"),
        (.seconds(-90), "-PT1M30S"),
        (.seconds(60) + .nanoseconds(10), "PT1M0.00000001S"), (.nanoseconds(-1), "-PT0.000000001S"),
    ])
    func `a duration is written shortest`(duration: Duration, text: String) {
        #expect(duration.iso8601 == text)
    }

    @Test func `what is written is read back`() throws {
        for seconds in [0, 1, 59, 60, 61, 3_599, 3_600, 3_601, 86_399, 86_400, 86_401, 90_061]
            as [Int64]
        {
            for nanoseconds in [0, 1, 500_000_000] as [Int64] {
                let duration = Duration.seconds(seconds) + .nanoseconds(nanoseconds)
                #expect(try ISODuration.parse(duration.iso8601, allowsFraction: true) == duration)
            }
        }
    }
}
