internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import TimeZones
internal import WorkflowDefinitions

/// What may start a run: an event, or what the engine, a calendar or a person asks.
struct EntryTrigger {
    /// Nil where nothing happened but time, or somebody asked: `/event` and `/trigger` are missing.
    var event: LoggedEvent?
    var cause: String
    var ordinal: Int64
    var recordedAt: Instant
    var depth = 0
    /// The subscription whose date it is.
    var subscription: SubscriptionID?
    /// The key that whoever asks gives.
    var key: String?
    /// Who a schedule is for.
    var audience: Condition?
    var supersedes = false
    /// Why the run that it starts sends nothing, for life.
    var withholding: Withholding?
}

/// Why a workflow was not entered; counted by this word.
enum EntryRefusal: String, Error {
    case environment, connector, condition, audience, exits, reentry, live, late
    case noKey = "no_key"
    case noValue = "no_value"
    case causeSpent = "cause_spent"
    case valueSpent = "once_per"
    case tooManyLive = "too_many_live"

    /// Whether the workflow's own filters kept the customer out.
    var isFilter: Bool {
        switch self {
        case .connector, .condition, .audience, .exits: true
        case .environment, .reentry, .live, .late, .noKey, .noValue, .causeSpent, .valueSpent,
            .tooManyLive:
            false
        }
    }
}

// Entries: which workflows are started, in workflow id order (S4).
extension CustomerDecision {
    /// - Parameter withholding: why the runs that it starts send nothing; nil for runs that send.
    mutating func enterWorkflows(by event: LoggedEvent, withholding: Withholding? = nil) {
        for version in definitions.live {
            guard var trigger = version.trigger(for: event) else { continue }
            trigger.withholding = withholding
            enter(version, by: trigger)
        }
    }

    /// Counts the workflows that an event would have tried to start and may not.
    mutating func countUnstarted(by event: LoggedEvent, cause: String) {
        for version in definitions.live where version.trigger(for: event) != nil {
            count(Count(.notEntered, workflow: version.workflow, cause: cause))
        }
    }

    mutating func enter(_ version: DefinitionSet.Version, by trigger: EntryTrigger) {
        guard let refusal = attempt(version, by: trigger) else { return }
        count(
            Count(
                refusal.isFilter ? .filtered : .notEntered, workflow: version.workflow,
                cause: refusal.rawValue))
    }

    private mutating func attempt(
        _ version: DefinitionSet.Version, by trigger: EntryTrigger
    ) -> EntryRefusal? {
        let definition = version.definition
        let entry = definition.entry
        var admission = Reads()
        if let refusal = filter(definition, trigger, &admission) { return refusal }
        let key: String?
        switch keyOf(entry, trigger) {
        case .none: key = trigger.key
        case .found(let text): key = text
        case .missing: return .noKey
        }
        if endsAtOnce(definition, trigger, &admission) { return .exits }
        if let event = trigger.event, comesTooLate(definition, event, key: key) { return .late }
        if turn.spentCauses.contains(
            SpentCause(workflow: version.workflow, cause: trigger.cause))
            || runs.contains(where: {
                $0.workflow == version.workflow && $0.cause == trigger.cause && $0.rerun == 0
            })
        {
            return .causeSpent
        }
        var run = makeRun(version, trigger, key: key)
        switch admit(version, trigger, key: key, run: run.id, &admission) {
        case .failure(let refusal): return refusal
        case .success(let slot): run.slot = slot
        }
        count(Count(.entered, workflow: version.workflow))
        apply(
            Engine(definition).enter(
                run, ordinal: ordinal, depth: trigger.depth, facts: facts, admission: admission))
        return nil
    }

    private func makeRun(
        _ version: DefinitionSet.Version, _ trigger: EntryTrigger, key: String?
    ) -> Run {
        var run = Run(
            id: Run.makeID(
                workflow: version.workflow, customer: turn.customer.id, cause: trigger.cause,
                rerun: 0),
            customer: turn.customer.id, workflow: version.workflow, version: version.number,
            digest: version.digest, key: key, slot: 0, cause: trigger.cause, rerun: 0,
            environment: turn.customer.environment, enteredAt: turn.now,
            trigger: trigger.event?.event.scope ?? JSONObject(), entryOrdinal: trigger.ordinal)
        run.triggerRecordedAt = trigger.recordedAt
        if let subscription = trigger.subscription { run.subscription = subscription }
        run.withholding = trigger.withholding
        return run
    }

    // MARK: Filters

    private func filter(
        _ definition: WorkflowDefinition, _ trigger: EntryTrigger, _ admission: inout Reads
    ) -> EntryRefusal? {
        guard definition.environments.contains(turn.customer.environment) else {
            return .environment
        }
        if let connectors = definition.entry.connectors, let event = trigger.event,
            !connectors.contains(event.event.connector)
        {
            return .connector
        }
        if let audience = trigger.audience,
            !passes(audience, unless: nil, scope(of: trigger), &admission)
        {
            return .audience
        }
        guard
            passes(
                definition.entry.condition, unless: definition.entry.unless, scope(of: trigger),
                &admission)
        else { return .condition }
        return nil
    }

    private func passes(
        _ condition: Condition?, unless: Condition?, _ scope: Scope, _ admission: inout Reads
    ) -> Bool {
        var evaluator = Evaluator(scope: scope, facts: facts)
        defer { admission.merge(evaluator.reads) }
        if let condition, evaluator.decide(condition).truth != .true { return false }
        if let unless, evaluator.decide(unless).truth == .true { return false }
        return true
    }

    private func scope(of trigger: EntryTrigger) -> Scope {
        Scope(facts, testing: trigger.event?.event, subscription: trigger.subscription)
    }

    /// Entry and exit both true on the same event: not entered.
    private func endsAtOnce(
        _ definition: WorkflowDefinition, _ trigger: EntryTrigger, _ admission: inout Reads
    ) -> Bool {
        for rule in definition.exits {
            switch rule.cause {
            case .event(let match):
                guard let event = trigger.event?.event,
                    match.names.contains(where: { event.answers(to: $0) }),
                    passes(match.condition, unless: match.unless, scope(of: trigger), &admission)
                else { continue }
                return true
            case .condition(let condition):
                if passes(condition, unless: nil, scope(of: trigger), &admission) { return true }
            }
        }
        return false
    }

    /// What would have ended the run, or was its goal, is known already: a provider that sends out of
    /// order must not start a journey for who has long converted or left (S4).
    private func comesTooLate(
        _ definition: WorkflowDefinition, _ event: LoggedEvent, key: String?
    ) -> Bool {
        var matches = [definition.goal?.match].compactMap(\.self)
        for rule in definition.exits {
            if case .event(let match) = rule.cause { matches.append(match) }
        }
        guard !matches.isEmpty else { return false }
        return log.contains { logged in
            guard event.event.comesBefore(logged.event), carries(key, definition, logged.event)
            else { return false }
            return matches.contains { match in
                var reads = Reads()
                return match.names.contains { logged.event.answers(to: $0) }
                    && passes(
                        match.condition, unless: match.unless,
                        Scope(facts, testing: logged.event), &reads)
            }
        }
    }

    private func carries(
        _ key: String?, _ definition: WorkflowDefinition, _ event: Event
    ) -> Bool {
        guard let key, let entryKey = definition.entry.key else { return true }
        guard let found = keyText(at: entryKey.pointer, Scope(facts, testing: event)) else {
            return entryKey.pointer.tokens.first != "event"
        }
        return found.hasSameBytes(as: key)
    }

    private enum KeyText {
        case none
        case found(String)
        case missing
    }

    private func keyOf(_ entry: Entry, _ trigger: EntryTrigger) -> KeyText {
        guard let key = entry.key else { return .none }
        if let given = trigger.key { return .found(given) }
        if key == .subscription, let subscription = trigger.subscription {
            return .found(subscription.key)
        }
        return keyText(at: key.pointer, scope(of: trigger)).map { .found($0) } ?? .missing
    }

    private func keyText(at pointer: JSONPointer, _ scope: Scope) -> String? {
        scope.value(at: pointer).flatMap(Engine.keyText)
    }

    // MARK: Live runs and re-entry

    /// The slot a new run may take. A live run with the key alone decides, by `when_live`; re-entry and
    /// `once_per` are asked when none is live, and for `start_another`.
    private mutating func admit(
        _ version: DefinitionSet.Version, _ trigger: EntryTrigger, key: String?, run: RunID,
        _ admission: inout Reads
    ) -> Result<Int, EntryRefusal> {
        let entry = version.definition.entry
        let live = runs.filter {
            $0.status.isLive && $0.workflow == version.workflow && isSameKey($0.key, key)
        }
        var slot = 0
        if !live.isEmpty {
            switch entry.whenLive {
            case .ignore, .restart:
                guard trigger.supersedes || entry.whenLive == .restart else {
                    return .failure(.live)
                }
                for run in live { supersede(run) }
                return .success(0)
            case .startAnother:
                let taken = Set(live.map(\.slot))
                guard let free = (0..<25).first(where: { !taken.contains($0) }) else {
                    return .failure(.tooManyLive)
                }
                slot = free
            }
        } else if !mayReenter(entry, version.workflow, key: key) {
            return .failure(.reentry)
        }
        if let oncePer = entry.oncePer,
            let refusal = claim(oncePer, version.workflow, trigger, run: run, &admission)
        {
            return .failure(refusal)
        }
        return .success(slot)
    }

    /// Takes the value that lets the workflow be entered once; nil when nobody had it.
    private mutating func claim(
        _ oncePer: Value, _ workflow: WorkflowID, _ trigger: EntryTrigger, run: RunID,
        _ admission: inout Reads
    ) -> EntryRefusal? {
        var evaluator = Evaluator(scope: scope(of: trigger), facts: facts)
        let found = evaluator.resolve(oncePer)
        admission.merge(evaluator.reads)
        guard let found, !found.isNull else { return .noValue }
        // As PostgreSQL can hold it.
        let text = (Engine.keyText(found) ?? found.text).filter { $0 != "\0" }
        let value = EntryValue(workflow: workflow, text: text)
        guard takenValues.insert(value).inserted else { return .valueSpent }
        result.claims.append(EntryClaim(value: value, run: run))
        return nil
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
    func isSameKey(_ left: String?, _ right: String?) -> Bool {
        switch (left, right) {
        case (nil, nil): true
        case (let left?, let right?): left.hasSameBytes(as: right)
        case (nil, _), (_, nil): false
        }
    }
}

extension DefinitionSet.Version {
    /// What of an event starts the workflow; nil for one that its trigger does not name.
    fileprivate func trigger(for event: LoggedEvent) -> EntryTrigger? {
        switch definition.entry.trigger {
        case .event(let names):
            guard names.contains(where: { event.event.answers(to: $0) }) else { return nil }
            return EntryTrigger(
                event: event, cause: event.event.id.text, ordinal: event.ordinal,
                recordedAt: event.recordedAt, depth: event.event.depth)
        case .segment(let id, let on):
            guard let cause = event.event.segmentCause,
                event.event.properties["segment"]?.string == id.text,
                (event.event.name == Event.segmentEntered) == (on == .enter)
            else { return nil }
            return EntryTrigger(
                cause: cause, ordinal: event.ordinal, recordedAt: event.recordedAt,
                depth: event.event.depth)
        case .date, .schedule, .api: return nil
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
