/// How often an allowance is whole again, counted in UTC from the moment it began.
///
/// No interval is `lifetime`: what is used up stays used up.
package struct ResetInterval: Sendable, Hashable, CustomStringConvertible {
    /// The calendar's units.
    package enum Unit: String, Sendable, Hashable, CaseIterable {
        case minute, hour, day, week, month, year
    }

    /// The unit that is counted.
    package let unit: Unit
    /// Every so many units, 1 to ``most``.
    package let every: Int

    /// The most units between two resets.
    package static let most = 1_000
    /// How a catalogue writes no interval.
    package static let lifetime = "lifetime"

    /// Nil when `every` is outside 1 to ``most``.
    package init?(_ unit: Unit, every: Int = 1) {
        guard (1...Self.most).contains(every) else { return nil }
        self.unit = unit
        self.every = every
    }

    package var description: String {
        every == 1 ? unit.rawValue : "\(every) \(unit.rawValue)s"
    }

    /// The boundary with this number; the anchor is number 0. Months are counted from the anchor each
    /// time, so that an allowance of the 31st is back on the 31st after a February.
    func boundary(_ number: Int64, from anchor: Moment) -> Moment {
        switch unit {
        case .month: anchor.adding(months: number * Int64(every))
        case .year: anchor.adding(months: number * Int64(every) * 12)
        case .minute, .hour, .day, .week:
            number.multipliedReportingOverflow(by: length).overflow
                ? .latest : anchor.adding(milliseconds: number * length)
        }
    }

    /// The first boundary after `moment`, which is never the anchor itself.
    package func next(after moment: Moment, from anchor: Moment) -> Moment {
        if moment < anchor { return boundary(1, from: anchor) }
        var number: Int64
        switch unit {
        case .month, .year:
            let months = Int64(unit == .year ? every * 12 : every)
            number = max(1, anchor.calendarMonths(to: moment) / months)
        case .minute, .hour, .day, .week:
            number = max(1, (moment.milliseconds - anchor.milliseconds) / length)
        }
        // At most two steps: the estimate cut off less than one interval.
        while boundary(number, from: anchor) <= moment {
            number += 1
            if boundary(number, from: anchor) == .latest { return .latest }
        }
        return boundary(number, from: anchor)
    }

    /// Milliseconds of the units that always are of one length.
    private var length: Int64 {
        let one: Int64 =
            switch unit {
            case .minute: 60_000
            case .hour: 3_600_000
            case .day: Moment.day
            case .week: 7 * Moment.day
            case .month: 28 * Moment.day
            case .year: 365 * Moment.day
            }
        return one * Int64(every)
    }
}
