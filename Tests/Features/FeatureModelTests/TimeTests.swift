import FeatureModel
import Testing

struct TimeTests {
    @Test(arguments: [
        ("minute", Int64(60_000)), ("hour", 3_600_000), ("day", 86_400_000), ("week", 604_800_000),
    ])
    func `fixed intervals are counted from the start`(name: String, length: Int64) throws {
        let interval = try #require(
            ResetInterval.Unit(rawValue: name).flatMap { ResetInterval($0) })
        let start = World.at(123)
        for number in Int64(0)..<5 {
            let moment = Moment(milliseconds: start.milliseconds + number * length)
            #expect(
                interval.next(after: moment, from: start).milliseconds
                    == moment.milliseconds + length)
            let before = Moment(milliseconds: moment.milliseconds + length - 1)
            #expect(
                interval.next(after: before, from: start).milliseconds
                    == moment.milliseconds + length)
        }
    }

    @Test func `a month of the 31st ends on the last day, and is back on the 31st`() throws {
        let month = try #require(ResetInterval(.month))
        let start = World.at()  // 31 January 2026
        var moment = start
        var days: [Int64] = []
        for _ in 0..<6 {
            moment = month.next(after: moment, from: start)
            days.append((moment.milliseconds - start.milliseconds) / 86_400_000)
        }
        // 28 February, 31 March, 30 April, 31 May, 30 June, 31 July.
        #expect(days == [28, 59, 89, 120, 150, 181])
    }

    @Test func `a year of 29 February ends on the 28th until the next leap year`() throws {
        let year = try #require(ResetInterval(.year))
        let start = Moment(milliseconds: 1_709_164_800_000)  // 29 February 2024
        var moment = start
        var days: [Int64] = []
        for _ in 0..<4 {
            moment = year.next(after: moment, from: start)
            days.append((moment.milliseconds - start.milliseconds) / 86_400_000)
        }
        #expect(days == [365, 730, 1_095, 1_461])
    }

    @Test func `the next boundary is the first one after any moment`() throws {
        var seed = UInt64(20_261_130)
        func random(_ bound: UInt64) -> Int64 {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int64((seed >> 33) % bound)
        }
        for _ in 0..<500 {
            let unit = ResetInterval.Unit.allCases[Int(random(6))]
            let interval = try #require(ResetInterval(unit, every: Int(random(13)) + 1))
            let start = Moment(milliseconds: random(2_000_000_000) * 1_000)
            let moment = Moment(milliseconds: start.milliseconds + random(400) * 86_400_000)
            let next = interval.next(after: moment, from: start)
            #expect(next > moment)
            // Walking from the start reaches the same boundary.
            var walked = start
            var steps = 0
            while walked <= moment, steps < 1_000_000, unit != .minute, unit != .hour {
                walked = interval.next(after: walked, from: start)
                steps += 1
            }
            if steps > 0 { #expect(walked == next, "\(interval) from \(start) at \(moment)") }
        }
    }

    @Test func `a far end of time is held and not passed`() throws {
        let years = try #require(ResetInterval(.year, every: 1_000))
        let start = World.at()
        #expect(years.next(after: .latest, from: start) == .latest)
        #expect(World.at().adding(days: .max) == .latest)
    }

    @Test func `an allowance is whole again at its boundary, although nothing was written`() throws
    {
        var customer = Customer()
        try customer.give("pro")
        try customer.use("generations", 60)
        #expect(customer.balance("generations", at: World.at(-1, days: 28)) == 40)
        #expect(customer.balance("generations", at: World.at(days: 28)) == 100)
        #expect(try customer.use("generations", 1, at: World.at(days: 30)).access.balance == 99)
        let resets = customer.entries.filter { $0.event.kind == "reset" }
        #expect(resets.map(\.amount) == [60])
    }

    @Test func `the timeline knows every answer in advance`() throws {
        var customer = Customer()
        try customer.give("pro", until: World.at(days: 40))
        try customer.use("generations", 100)
        let known = try #require(
            customer.account.known.first { $0.feature.text == "generations" })
        let steps = customer.account.timeline(of: known)
        #expect(steps.map(\.access.balance) == [0, 100, 0])
        #expect(steps.map(\.access.allowed) == [false, true, false])
        #expect(steps.map(\.validFrom) == [nil, World.at(days: 28), World.at(days: 40)])
        #expect(steps.map(\.validUntil) == [World.at(days: 28), World.at(days: 40), nil])
        #expect(steps.map(\.changedAt) == [World.at(), World.at(days: 28), World.at(days: 40)])
    }

    @Test func `the timeline agrees with the account at every moment`() throws {
        var customer = Customer()
        try customer.give("pro", until: World.at(days: 70))
        try customer.give("coins", at: World.at(days: 1), until: World.at(days: 3), id: "g2")
        try customer.use("generations", 70, at: World.at(days: 2))
        try customer.use("generations", 3, at: World.at(days: 2), entity: "a")
        for known in customer.account.known {
            let steps = customer.account.timeline(of: known)
            for hour in stride(from: Int64(48), to: 80 * 24, by: 7) {
                let moment = World.at(hour * 3_600_000)
                let step = try #require(
                    steps.first {
                        $0.validFrom.map { $0 <= moment } ?? true
                            && $0.validUntil.map { moment < $0 } ?? true
                    })
                let answer = customer.account.access(
                    to: known.feature, entity: known.entity,
                    in: Catalogue(
                        features: World.catalogue.features.filter {
                            $0.value.type != .creditSystem
                                || $0.key == known.feature
                        }), at: moment)
                #expect(step.access == answer.access, "\(known.feature) after \(hour) h")
            }
        }
    }

    @Test func `a clock that goes back dates nothing before what was decided already`() throws {
        var customer = Customer()
        try customer.give("pro", at: World.at(days: 1))
        let receipt = try customer.use("generations", 1, at: World.at())
        #expect(receipt.occurredAt == World.at(days: 1))
    }
}
