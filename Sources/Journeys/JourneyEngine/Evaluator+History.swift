internal import JSON
internal import JourneyModel
internal import TimeZones
internal import WorkflowDefinitions

// Questions about the customer's stored events.
extension Evaluator {
    /// More events than this are not counted.
    static let mostEvents = 10_000

    /// What a question comes to: the measure, and when time alone changes it.
    private struct Tally {
        /// Nil when nothing can be measured, as the average of nothing.
        var number: JSONNumber?
        var changesAt: Instant?
    }

    /// Where the events that count begin and end, and how those ends move with the clock.
    private struct Span {
        var from: Instant
        /// Whether events count from ``from`` on by their `occurred_at`; false where ordinals decide.
        var countsFromThen = true
        /// Only events after this ordinal; nil for all.
        var afterOrdinal: Int64?
        /// Set when ``from`` is this long before now.
        var width: Duration?
        var until: Instant?
        /// Set when ``until`` is now moved by so much.
        var untilFromNow: Duration?
    }

    mutating func decide(
        _ history: EventHistory, as condition: Condition, at place: JSONPointer
    ) -> Verdict {
        guard let span = span(of: history) else {
            return verdict("events", .unknown, [nil], at: place)
        }
        let asker = self
        let answer = ask(question(history, span, condition)) { facts in
            guard span.from >= facts.eventsKnownSince else {
                return ["unknown": "older events are not kept"]
            }
            let tally = asker.tally(history, span, facts)
            var json = JSONObject([("value", tally.number.map { .number($0) } ?? .null)])
            json["changes_at"] = tally.changesAt.map { .string($0.description) }
            return .object(json)
        }
        let names: JSONValue = .array(history.match.names.map { .string($0) })
        guard let number = answer?["value"]?.number else {
            return verdict("events", .unknown, [names, nil], at: place)
        }
        return verdict(
            "events", Truth(history.range.contains(number)), [names, .number(number)], at: place,
            changesAt: answer?["changes_at"]?.string.flatMap { Instant($0) })
    }

    private mutating func span(of history: EventHistory) -> Span? {
        guard var span = span(since: history.since) else { return nil }
        if let value = history.until {
            let operand = operand(value)
            guard let instant = operand.json?.string.flatMap({ Instant($0) }) else { return nil }
            span.until = instant
            span.untilFromNow = operand.fromNow
        }
        return span
    }

    private mutating func span(since: EventHistory.Since) -> Span? {
        switch since {
        case .within(let width): return Span(from: scope.now - width, width: width)
        case .ever: return Span(from: .earliest)
        case .run:
            guard let runStart else { return nil }
            return Span(
                from: runStart.recordedAt, countsFromThen: false, afterOrdinal: runStart.ordinal)
        case .instant(let value):
            let operand = operand(value)
            guard let instant = operand.json?.string.flatMap({ Instant($0) }) else { return nil }
            return Span(from: instant, width: operand.fromNow.map { .zero - $0 })
        case .later(let left, let right):
            guard let left = span(since: left), let right = span(since: right) else { return nil }
            let dated = [left, right].filter(\.countsFromThen).map(\.from)
            return Span(
                from: dated.max() ?? max(left.from, right.from),
                countsFromThen: !dated.isEmpty,
                afterOrdinal: [left.afterOrdinal, right.afterOrdinal].compactMap { $0 }.max(),
                width: [left.width, right.width].compactMap { $0 }.min())
        }
    }

    private func question(
        _ history: EventHistory, _ span: Span, _ condition: Condition
    ) -> JSONValue {
        // What an envelope alone can ask is not in the written form.
        var question = JSONObject([
            ("events", condition.json["events"] ?? .null), ("from", .string(span.from.description)),
        ])
        question["until"] = span.until.map { .string($0.description) }
        switch history.measure {
        case .count: break
        case .sum, .average, .minimum, .maximum, .distinct, .firstAt, .lastAt, .lastAge:
            question["measure"] = .string(history.measure.text)
        }
        return .object(question)
    }

    private func tally(_ history: EventHistory, _ span: Span, _ facts: Facts) -> Tally {
        var counted: [LoggedEvent] = []
        var changes: [Instant] = []
        for event in facts.events where counted.count < Self.mostEvents {
            let occurred = event.event.occurredAt
            if let ordinal = span.afterOrdinal {
                let isHidden = runStart?.hidden.contains { $0.contains(event.ordinal) } ?? false
                if event.ordinal <= ordinal || isHidden { continue }
            }
            if span.countsFromThen, occurred < span.from { continue }
            guard history.match.names.contains(where: { event.event.answers(to: $0) }),
                passes(history.match, event.event, &changes)
            else { continue }
            if let until = span.until, occurred > until {
                // It comes in when the end has moved so far.
                if let moved = span.untilFromNow { changes.append(occurred - moved) }
                continue
            }
            if let width = span.width { changes.append(occurred + width + .milliseconds(1)) }
            counted.append(event)
        }
        let number = history.measure.number(of: counted, now: scope.now)
        return Tally(number: number, changesAt: changes.filter { $0 > scope.now }.min())
    }

    /// `where` must be true and `unless` must not be; what they read is part of the answer.
    private func passes(
        _ match: EventMatch, _ event: Event, _ changes: inout [Instant]
    ) -> Bool {
        guard match.condition != nil || match.unless != nil else { return true }
        var scope = scope
        scope.event = event.scope
        scope.raw = event.raw
        var inner = Evaluator(scope: scope, facts: facts)
        inner.runStart = runStart
        if let condition = match.condition {
            let verdict = inner.decide(condition)
            changes += [verdict.changesAt].compactMap { $0 }
            guard verdict.truth == .true else { return false }
        }
        guard let unless = match.unless else { return true }
        let verdict = inner.decide(unless)
        changes += [verdict.changesAt].compactMap { $0 }
        return verdict.truth != .true
    }
}

extension EventHistory.Measure {
    fileprivate var text: String {
        switch self {
        case .count: "count"
        case .sum(let pointer): "sum \(pointer)"
        case .average(let pointer): "average \(pointer)"
        case .minimum(let pointer): "minimum \(pointer)"
        case .maximum(let pointer): "maximum \(pointer)"
        case .distinct(let pointer): "distinct \(pointer)"
        case .firstAt: "first_at"
        case .lastAt: "last_at"
        case .lastAge: "last_age"
        }
    }

    /// The measure over events in the order of their inputs; nil when there is nothing to measure.
    fileprivate func number(of events: [LoggedEvent], now: Instant) -> JSONNumber? {
        let times = events.map(\.event.occurredAt)
        switch self {
        case .count: return JSONNumber(Int64(events.count))
        case .sum(let pointer):
            return Self.written(Self.numbers(at: pointer, of: events).reduce(0, +))
        case .average(let pointer):
            let numbers = Self.numbers(at: pointer, of: events)
            guard !numbers.isEmpty else { return nil }
            return Self.written(numbers.reduce(0, +) / Double(numbers.count))
        case .minimum(let pointer):
            return Self.numbers(at: pointer, of: events).min().flatMap { Self.written($0) }
        case .maximum(let pointer):
            return Self.numbers(at: pointer, of: events).max().flatMap { Self.written($0) }
        case .distinct(let pointer):
            let values = events.compactMap { Self.value(at: pointer, of: $0) }
            return JSONNumber(Int64(Set(values).count))
        case .firstAt: return times.min().map { JSONNumber($0.milliseconds) }
        case .lastAt: return times.max().map { JSONNumber($0.milliseconds) }
        case .lastAge:
            // An age never counts below zero.
            return times.max().map {
                JSONNumber(max(0, (now.milliseconds - $0.milliseconds) / 1_000))
            }
        }
    }

    private static func value(at pointer: JSONPointer, of event: LoggedEvent) -> JSONValue? {
        let tokens =
            pointer.tokens.first == "event"
            ? Array(pointer.tokens.dropFirst()) : pointer.tokens
        return JSONPointer(tokens: tokens).resolve(in: .object(event.event.scope))
    }

    private static func numbers(at pointer: JSONPointer, of events: [LoggedEvent]) -> [Double] {
        events.compactMap { value(at: pointer, of: $0)?.number?.double }
    }

    private static func written(_ number: Double) -> JSONNumber? {
        guard number.isFinite else { return nil }
        if number == number.rounded(), abs(number) < 9e15 { return JSONNumber(Int64(number)) }
        return JSONNumber(literal: "\(number)")
    }
}
