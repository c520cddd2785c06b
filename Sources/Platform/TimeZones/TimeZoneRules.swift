/// What the clocks of one time zone show, for every instant: a pure value, read from tzdata once.
///
/// Two readings of the same zone under different releases of tzdata are different values; ``version``
/// says which one decided.
package struct TimeZoneRules: Sendable, Hashable {
    /// A moment at which clocks are set.
    package struct Transition: Sendable, Hashable {
        /// The first instant under the new offset.
        package let instant: Instant
        /// Seconds ahead of UTC until then.
        package let offsetBefore: Int
        /// Seconds ahead of UTC from then on.
        package let offsetAfter: Int
    }

    /// Which of two instants a repeated local time means.
    package enum Choice: Sendable, Hashable {
        /// The first time the clock shows it: what a start takes.
        case earlier
        /// The second time: what an end takes.
        case later
    }

    /// What a local time is in this zone.
    package enum LocalResolution: Sendable, Hashable {
        /// The clock shows it once.
        case exact(Instant)
        /// The clock jumps over it; the first minute after the jump.
        case gap(firstValid: Instant)
        /// The clock shows it twice.
        case overlap(earlier: Instant, later: Instant)
    }

    /// The IANA name, such as `Europe/Berlin`.
    package let name: String
    /// The release of tzdata these rules are from, such as `2025b`; `unknown` where nothing says.
    package let version: String

    /// The seconds at which an offset begins, in order, with that offset.
    let starts: [Start]
    /// The offset before the first start.
    let firstOffset: Int
    /// The rule that goes on after the last start.
    let footer: RecurringRule?

    struct Start: Sendable, Hashable {
        let second: Int64
        let offset: Int
    }

    /// A zone that never changes its offset.
    ///
    /// - Parameter offsetSeconds: seconds ahead of UTC, held within a day.
    package init(name: String, fixedOffsetSeconds: Int, version: String) {
        self.init(
            name: name, version: version, starts: [],
            firstOffset: min(max(fixedOffsetSeconds, -86_399), 86_399), footer: nil)
    }

    init(name: String, version: String, starts: [Start], firstOffset: Int, footer: RecurringRule?) {
        self.name = name
        self.version = version
        self.starts = starts
        self.firstOffset = firstOffset
        self.footer = footer
    }

    /// Coordinated universal time, which no release of tzdata changes.
    package static let utc = TimeZoneRules(name: "Etc/UTC", fixedOffsetSeconds: 0, version: "fixed")

    /// Seconds ahead of UTC at `instant`.
    package func offset(at instant: Instant) -> Int { offset(atSecond: second(of: instant)) }

    /// What a clock in this zone shows at `instant`.
    package func civilTime(at instant: Instant) -> CivilTime {
        CivilTime(instant, offsetSeconds: offset(at: instant))
    }

    /// The instant at which a clock in this zone shows `date` and `time`.
    ///
    /// A time the clock jumps over is the first valid minute after the jump; of a time it shows
    /// twice, `choice` takes one.
    package func instant(
        of date: CivilDate, at time: LocalTime, inOverlap choice: Choice
    ) -> Instant {
        switch resolve(date, time) {
        case .exact(let instant): instant
        case .gap(let firstValid): firstValid
        case .overlap(let earlier, let later):
            switch choice {
            case .earlier: earlier
            case .later: later
            }
        }
    }

    /// Whether the clock shows a local time once, twice or never.
    package func resolve(_ date: CivilDate, _ time: LocalTime) -> LocalResolution {
        let local = Int64(date.daysSinceEpoch) * 86_400 + Int64(time.minutesSinceMidnight) * 60
        // No zone is a day and a half from UTC or moves by more than a day, so nothing outside three
        // days either way can matter.
        let from = local - 259_200
        let changes = starts(from: from, through: local + 259_200)
        var found: [Int64] = []
        var begin = from
        var offset = offset(atSecond: from)
        for change in changes + [Start(second: local + 259_201, offset: 0)] {
            let candidate = local - Int64(offset)
            if candidate >= begin, candidate < change.second { found.append(candidate) }
            begin = change.second
            offset = change.offset
        }
        guard let first = found.first, let last = found.last else {
            return .gap(firstValid: firstValid(local, after: from, changes))
        }
        if first == last { return .exact(instant(second: first)) }
        return .overlap(earlier: instant(second: first), later: instant(second: last))
    }

    /// The next moment after `instant` at which the offset changes; nil when it never does again
    /// (or not within the next two years of a recurring rule).
    package func nextTransition(after instant: Instant) -> Transition? {
        let now = second(of: instant)
        var before = offset(atSecond: now)
        let index = firstStart { $0.second > now }
        for start in starts[index...] where start.offset != before {
            return Transition(
                instant: self.instant(second: start.second), offsetBefore: before,
                offsetAfter: start.offset)
        }
        let resumed = max(now, starts.last?.second ?? now)
        before = offset(atSecond: resumed)
        guard let footer else { return nil }
        for start in footer.starts(from: resumed + 1, through: resumed + 2 * 366 * 86_400)
        where start.offset != before {
            return Transition(
                instant: self.instant(second: start.second), offsetBefore: before,
                offsetAfter: start.offset)
        }
        return nil
    }
}

// Seconds, as tzdata counts them.
extension TimeZoneRules {
    private func offset(atSecond second: Int64) -> Int {
        let index = firstStart { $0.second > second }
        if index == starts.count, let footer { return footer.offset(atSecond: second) }
        return index == 0 ? firstOffset : starts[index - 1].offset
    }

    /// The changes of offset within a few days, written ones and recurring ones.
    private func starts(from: Int64, through: Int64) -> [Start] {
        let begin = firstStart { $0.second >= from }
        let end = firstStart { $0.second > through }
        var found = Array(starts[begin..<end])
        if let footer {
            let after = starts.last.map { max(from, $0.second + 1) } ?? from
            if after <= through { found += footer.starts(from: after, through: through) }
        }
        return found
    }

    /// The first whole minute the clock shows after the jump over `local`.
    private func firstValid(_ local: Int64, after from: Int64, _ changes: [Start]) -> Instant {
        var before = offset(atSecond: from)
        for change in changes {
            if local - Int64(before) >= change.second, local - Int64(change.offset) < change.second
            {
                // Before railway time offsets had odd seconds; a jump then ends within a minute.
                let shown = change.second + Int64(change.offset)
                let over = (shown % 60 + 60) % 60
                return instant(second: over == 0 ? change.second : change.second + 60 - over)
            }
            before = change.offset
        }
        return instant(second: local - Int64(before))
    }

    /// The place of the first start for which `test` holds; it must hold for all later ones too.
    private func firstStart(where test: (Start) -> Bool) -> Int {
        var low = 0
        var high = starts.count
        while low < high {
            let middle = (low + high) / 2
            if test(starts[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    private func second(of instant: Instant) -> Int64 {
        let milliseconds = instant.heldWithinYears.milliseconds
        return milliseconds >= 0 ? milliseconds / 1_000 : (milliseconds - 999) / 1_000
    }

    private func instant(second: Int64) -> Instant {
        Instant(milliseconds: min(max(second, -1 << 40), 1 << 40) * 1_000).heldWithinYears
    }
}
