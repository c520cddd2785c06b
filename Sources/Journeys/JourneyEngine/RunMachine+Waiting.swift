package import JSON
internal import JourneyModel
internal import TimeZones
internal import WorkflowDefinitions

// Waits: looking back on entry, taking events, and reconsidering conditions.
extension RunMachine {
    mutating func enter(_ wait: WaitUntil, id: StepID, visit: Int) {
        let mark = mark(of: wait.since)
        for event in facts.events
        where event.ordinal > mark && event.ordinal <= ordinal && !run.hides(event.ordinal) {
            guard let branch = firstBranch(of: wait, takenBy: event) else {
                if wait.names(event.event), mayTake(event.event) { noteLookBack(event) }
                continue
            }
            bind(event, by: id)
            move(from: id, outlet: branch.id, to: branch.next)
            return
        }
        takeConditionBranch(of: wait, id: id)
        guard run.position == nil, !isLeaving else { return }
        let due: Instant
        switch wait.timeout {
        case .duration(let length): due = now + length
        case .until(let value):
            guard let instant = evaluate({ $0.instant(value) }) else {
                end(.failed(error: "invalid_instant"))
                return
            }
            due = instant
        }
        if due <= now {
            move(from: id, outlet: "on_timeout", to: wait.onTimeout)
        } else {
            self.wait(at: id, visit: visit, for: .events(mark: mark, due: due))
        }
    }

    private func mark(of since: WaitUntil.Since) -> Int64 {
        switch since {
        case .step: lookBack
        case .run: run.entryOrdinal
        case .entryInto(let step): run.entries[step]?.ordinal ?? run.entryOrdinal
        }
    }

    /// The first branch, in declaration order, that this event takes.
    mutating func firstBranch(
        of wait: WaitUntil, takenBy event: LoggedEvent
    ) -> WaitUntil.Branch? {
        guard mayTake(event.event) else { return nil }
        for branch in wait.branches {
            guard case .event(let match) = branch.cause else { continue }
            if reaches(event.event, match) { return branch }
        }
        return nil
    }

    /// Whether the event may satisfy a wait of this run at all (S3).
    private func mayTake(_ event: Event) -> Bool {
        !run.spentEvents.contains(event.id) && !isOlderThanTrigger(event)
    }

    /// Older than the trigger by the same connector's clock (S3); other clocks are not compared.
    private func isOlderThanTrigger(_ event: Event) -> Bool {
        let meta = run.trigger["meta"]
        guard let connector = meta?["connector"]?.string, connector == event.connector,
            let occurred = meta?["occurred_at"]?.string.flatMap({ Instant($0) })
        else { return false }
        return event.occurredAt < occurred
    }

    /// Whether the event is one the match names, belongs to this run by its key, and passes `where`
    /// and `unless`.
    mutating func reaches(_ event: Event, _ match: EventMatch) -> Bool {
        guard match.names.contains(where: { event.answers(to: $0) }) else { return false }
        guard !match.correlates || correlates(event) else { return false }
        if let condition = match.condition {
            guard decide(condition, testing: event).truth == .true else { return false }
        }
        if let unless = match.unless {
            guard decide(unless, testing: event).truth != .true else { return false }
        }
        return true
    }

    /// An event that carries the key's field reaches only the run with that key; one that lacks it
    /// reaches every run of the customer.
    private func correlates(_ event: Event) -> Bool {
        guard let key = run.key, let pointer = definition.entry.key?.pointer,
            pointer.tokens.first == "event"
        else { return true }
        let rest = JSONPointer(tokens: Array(pointer.tokens.dropFirst()))
        guard let found = rest.resolve(in: .object(event.scope)), !found.isNull else { return true }
        return Engine.keyText(found)?.hasSameBytes(as: key) ?? true
    }

    /// Makes the event `/event`, and spends it: it satisfies no other wait of this run.
    mutating func bind(_ event: LoggedEvent, by step: StepID) {
        run.bound = event.event.scope
        run.spentEvents.append(event.event.id)
        if drivingEvent == event.event.id.text {
            noteDriver("bound_by", .string(step.text))
        } else {
            noteLookBack(event, boundBy: step)
        }
    }

    /// Takes the first branch, in declaration order, that the event satisfies or that is true now.
    mutating func takeBranch(of wait: WaitUntil, id: StepID, by event: LoggedEvent) {
        for branch in wait.branches {
            switch branch.cause {
            case .event(let match):
                guard mayTake(event.event), reaches(event.event, match) else { continue }
                bind(event, by: id)
                move(from: id, outlet: branch.id, to: branch.next)
                return
            case .condition(let condition):
                let verdict = decide(condition)
                guard verdict.truth == .true else { continue }
                move(from: id, outlet: branch.id, to: branch.next, because: verdict.json)
                return
            }
        }
    }

    /// Takes the first condition branch that is true now.
    mutating func takeConditionBranch(of wait: WaitUntil, id: StepID) {
        for branch in wait.branches {
            guard case .condition(let condition) = branch.cause else { continue }
            let verdict = decide(condition)
            guard verdict.truth == .true else { continue }
            move(from: id, outlet: branch.id, to: branch.next, because: verdict.json)
            return
        }
    }

    /// Sets when what a waiting run looks at could change by time alone (S22).
    mutating func refreshReconsideration() {
        guard var position = run.position else { return }
        var conditions: [Condition] = definition.exits.compactMap { rule in
            if case .condition(let condition) = rule.cause { condition } else { nil }
        }
        if case .condition(let condition)? = definition.goal?.cause, run.convertedAt == nil {
            conditions.append(condition)
        }
        if case .events = position.waiting,
            case .waitUntil(let wait)? = definition.steps[position.step]?.action
        {
            conditions += wait.branches.compactMap { branch in
                if case .condition(let condition) = branch.cause { condition } else { nil }
            }
        }
        let changes = conditions.compactMap { decide($0).changesAt } + [stopChangesAt]
        position.reconsiderAt = changes.compactMap { $0 }.min()
        run.position = position
    }
}

extension WaitUntil {
    /// Whether a branch names the event, whatever else it asks of it.
    fileprivate func names(_ event: Event) -> Bool {
        branches.contains { branch in
            guard case .event(let match) = branch.cause else { return false }
            return match.names.contains { event.answers(to: $0) }
        }
    }
}

extension Engine {
    /// A key's text: strings as they are, whole numbers by their digits; nil for what cannot be a key.
    package static func keyText(_ value: JSONValue) -> String? {
        switch value {
        case .string(let text): text.isEmpty ? nil : text
        case .number(let number): number.int64.map { String($0) } ?? number.literal
        case .null, .bool, .array, .object: nil
        }
    }
}
