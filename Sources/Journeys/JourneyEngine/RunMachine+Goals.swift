internal import JSON
internal import JourneyModel
package import TimeZones
internal import WorkflowDefinitions

// The goal: its window, who may vouch for it, and what reaching it does (S21).
extension RunMachine {
    /// Evidence that arrives later than this after it happened converts nobody.
    static let longestLateness = Duration.seconds(31 * 86_400)

    /// Latches the goal; whether that ends the run is the exit policy's.
    mutating func convert(by event: LoggedEvent) {
        let occurred = event.event.occurredAt
        run.convertedAt = occurred
        markConverted()
        note(event)
        record(
            .converted,
            JSONObject([
                ("event", .string(event.event.id.text)),
                ("occurred_at", .string(occurred.description)),
            ]))
    }

    /// Whether the event would convert the run, had it not been converted before.
    mutating func matchesGoal(_ event: Event) -> Bool {
        guard let goal = definition.goal, run.status.mayConvert, event.trust != .client,
            let window = run.goalWindow(of: goal), window.contains(event.occurredAt),
            event.receivedAt - event.occurredAt <= Self.longestLateness
        else { return false }
        return reaches(event, goal.match)
    }

    /// Whether an app's own word for the goal ends the run: it never converts, but the person is not
    /// messaged on as if nothing had happened.
    mutating func endsByClientOutcome(_ event: Event) -> Bool {
        guard event.trust == .client, definition.exitPolicy.endsOnGoal, let goal = definition.goal
        else { return false }
        return reaches(event, goal.match)
    }
}

extension RunStatus {
    /// Failed, cancelled and superseded runs do not convert.
    fileprivate var mayConvert: Bool {
        switch self {
        case .waiting, .completed, .exited: true
        case .failed, .cancelled, .superseded: false
        }
    }
}

extension Run {
    /// From the goal's anchor on, both ends included; nil when the anchor was never reached.
    func goalWindow(of goal: Goal) -> ClosedRange<Instant>? {
        let anchor: Instant? =
            switch goal.anchor {
            case .runStart:
                trigger["meta"]?["occurred_at"]?.string.flatMap { Instant($0) } ?? enteredAt
            case .step(let step): entries[step]?.firstAt
            }
        return anchor.map { $0...max($0, $0 + goal.within) }
    }
}

extension Engine {
    /// Whether the event is evidence for the run's goal: of the newest such run of a workflow, and of
    /// no other, it makes a conversion, unless that run was converted before.
    package func matchesGoal(_ event: LoggedEvent, _ run: Run, facts: Facts) -> Bool {
        var machine = RunMachine(
            definition: definition, run: run, facts: facts, ordinal: event.ordinal,
            lookBack: event.ordinal)
        return machine.matchesGoal(event.event)
    }

    /// Until when an ended run must still be given events: the end of its goal's window and 31 days
    /// for evidence that arrives late. Until then it may convert, or, converted already, keeps older
    /// runs from converting by evidence that is its own. Nil for live runs, for runs that cannot
    /// convert, and without an open window.
    package func openUntil(_ run: Run) -> Instant? {
        guard !run.status.isLive, run.status.mayConvert, let goal = definition.goal,
            let window = run.goalWindow(of: goal)
        else { return nil }
        return window.upperBound + RunMachine.longestLateness
    }
}
