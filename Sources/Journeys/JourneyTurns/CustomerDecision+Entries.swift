internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import TimeZones
internal import WorkflowDefinitions

// Entries: which workflows an event starts, in workflow id order (S4).
extension CustomerDecision {
    mutating func enterWorkflows(by event: LoggedEvent) {
        for version in definitions.live {
            guard case .event(let names) = version.definition.entry.trigger,
                names.contains(where: { event.event.answers(to: $0) })
            else { continue }
            if let refusal = enter(version, by: event) {
                count(
                    Count(
                        refusal.isFilter ? .filtered : .notEntered, workflow: version.workflow,
                        cause: refusal.rawValue))
            }
        }
    }

    /// Why an event that a workflow names did not start it; counted by this word.
    private enum Refusal: String, Error {
        case environment, connector, condition, exits, reentry, live, late
        case noKey = "no_key"
        case causeSpent = "cause_spent"
        case tooManyLive = "too_many_live"

        var isFilter: Bool {
            switch self {
            case .connector, .condition, .exits: true
            case .environment, .reentry, .live, .late, .noKey, .causeSpent, .tooManyLive: false
            }
        }
    }

    private mutating func enter(
        _ version: DefinitionSet.Version, by event: LoggedEvent
    ) -> Refusal? {
        let definition = version.definition
        let entry = definition.entry
        guard definition.environments.contains(turn.customer.environment) else {
            return .environment
        }
        if let connectors = entry.connectors, !connectors.contains(event.event.connector) {
            return .connector
        }
        guard passes(entry.condition, unless: entry.unless, event.event) else { return .condition }
        let key: String?
        switch keyOf(entry, event.event) {
        case .none: key = nil
        case .found(let text): key = text
        case .missing: return .noKey
        }
        if endsAtOnce(definition, event.event) { return .exits }
        if comesTooLate(definition, event, key: key) { return .late }
        let cause = event.event.id.text
        if turn.spentCauses.contains(SpentCause(workflow: version.workflow, cause: cause)) {
            return .causeSpent
        }
        let slot: Int
        switch admit(entry, version.workflow, key: key) {
        case .failure(let refusal): return refusal
        case .success(let free): slot = free
        }
        var run = Run(
            id: Run.makeID(
                workflow: version.workflow, customer: turn.customer.id, cause: cause, rerun: 0),
            customer: turn.customer.id, workflow: version.workflow, version: version.number,
            digest: version.digest, key: key, slot: slot, cause: cause, rerun: 0,
            environment: turn.customer.environment, enteredAt: turn.now,
            trigger: event.event.scope, entryOrdinal: event.ordinal)
        run.triggerRecordedAt = event.recordedAt
        count(Count(.entered, workflow: version.workflow))
        apply(Engine(definition).enter(run, ordinal: ordinal, facts: facts))
        return nil
    }

    // MARK: Filters

    private func passes(
        _ condition: Condition?, unless: Condition?, _ event: Event
    ) -> Bool {
        var evaluator = Evaluator(scope: scope(testing: event))
        if let condition, evaluator.decide(condition).truth != .true { return false }
        if let unless, evaluator.decide(unless).truth == .true { return false }
        return true
    }

    private func scope(testing event: Event) -> Scope {
        Scope(
            event: event.scope, raw: event.raw, trigger: event.scope,
            customer: turn.customer.attributes, now: turn.now)
    }

    /// Entry and exit both true on the same event: not entered.
    private func endsAtOnce(_ definition: WorkflowDefinition, _ event: Event) -> Bool {
        definition.exits.contains { rule in
            switch rule.cause {
            case .event(let match):
                return match.names.contains { event.answers(to: $0) }
                    && passes(match.condition, unless: match.unless, event)
            case .condition(let condition): return passes(condition, unless: nil, event)
            }
        }
    }

    /// What would have ended the run, or was its goal, is known already: a provider that sends out of
    /// order must not start a journey for who has long converted or left (S4).
    private func comesTooLate(
        _ definition: WorkflowDefinition, _ event: LoggedEvent, key: String?
    ) -> Bool {
        var matches = definition.goal.map { [$0.match] } ?? []
        for rule in definition.exits {
            if case .event(let match) = rule.cause { matches.append(match) }
        }
        guard !matches.isEmpty else { return false }
        return log.contains { logged in
            guard event.event.comesBefore(logged.event), carries(key, definition, logged.event)
            else { return false }
            return matches.contains { match in
                match.names.contains { logged.event.answers(to: $0) }
                    && passes(match.condition, unless: match.unless, logged.event)
            }
        }
    }

    private func carries(
        _ key: String?, _ definition: WorkflowDefinition, _ event: Event
    ) -> Bool {
        guard let key, let entryKey = definition.entry.key else { return true }
        guard case .found(let text) = keyOf(definition.entry, event) else {
            return entryKey.pointer.tokens.first != "event"
        }
        return text.hasSameBytes(as: key)
    }

    private enum KeyText {
        case none
        case found(String)
        case missing
    }

    private func keyOf(_ entry: Entry, _ event: Event) -> KeyText {
        guard let key = entry.key else { return .none }
        guard let value = scope(testing: event).value(at: key.pointer),
            let text = Engine.keyText(value)
        else { return .missing }
        return .found(text)
    }

    // MARK: Live runs and re-entry

    /// The slot a new run may take. A live run with the key alone decides, by `when_live`; re-entry is
    /// asked when none is live, and for `start_another`.
    private mutating func admit(
        _ entry: Entry, _ workflow: WorkflowID, key: String?
    ) -> Result<Int, Refusal> {
        let live = runs.filter {
            $0.status.isLive && $0.workflow == workflow && isSameKey($0.key, key)
        }
        if !live.isEmpty {
            switch entry.whenLive {
            case .ignore: return .failure(.live)
            case .restart:
                for run in live { supersede(run) }
                return .success(0)
            case .startAnother:
                let taken = Set(live.map(\.slot))
                guard let free = (0..<25).first(where: { !taken.contains($0) }) else {
                    return .failure(.tooManyLive)
                }
                return .success(free)
            }
        }
        return mayReenter(entry, workflow, key: key) ? .success(0) : .failure(.reentry)
    }

    private mutating func supersede(_ run: Run) {
        guard let engine = engine(of: run) else { return }
        apply(
            engine.end(
                run, as: .superseded(reason: "restarted"), ordinal: ordinal, facts: facts))
    }

    private func mayReenter(_ entry: Entry, _ workflow: WorkflowID, key: String?) -> Bool {
        guard let last = lastEntry(of: workflow, key: key) else { return true }
        switch entry.reentry {
        case .oneTime: return false
        case .everyTime: return true
        case .oncePerWindow(let window): return turn.now - last >= window
        }
    }

    /// The newest entry that counts: stored ones, and those of this turn.
    private func lastEntry(of workflow: WorkflowID, key: String?) -> Instant? {
        let stored = turn.earlierEntries
            .filter { $0.workflow == workflow && isSameKey($0.key, key) }
            .map(\.enteredAt)
        let here =
            runs
            .filter { $0.workflow == workflow && isSameKey($0.key, key) && $0.usesUpEntry }
            .map(\.enteredAt)
        return (stored + here).max()
    }

    /// Keys are compared by their bytes, as the database does.
    private func isSameKey(_ left: String?, _ right: String?) -> Bool {
        switch (left, right) {
        case (nil, nil): true
        case (let left?, let right?): left.hasSameBytes(as: right)
        case (nil, _), (_, nil): false
        }
    }
}

extension Run {
    /// Failed, cancelled and superseded runs do not use up `one_time` or a window.
    fileprivate var usesUpEntry: Bool {
        switch status {
        case .waiting, .completed, .exited: true
        case .failed, .cancelled, .superseded: false
        }
    }
}
