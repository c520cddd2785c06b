internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import TimeZones
internal import WorkflowDefinitions

// Dates: each that the customer's data names starts a run once, when its shifted instant comes.
extension CustomerDecision {
    /// A date as it stands in the customer's data.
    private struct FoundDate {
        var key: DateEntry.Key
        var date: Instant
        var dueAt: Instant
    }

    /// Takes in dates that came, moved or went.
    ///
    /// - Parameter knownAt: when what the customer's data says became known: a date past then is late.
    mutating func reviewDates(knownAt: Instant) {
        for version in definitions.dated {
            guard let trigger = version.date else { continue }
            let found = dates(of: version)
            for date in found { take(date, late: trigger.late, version.workflow, knownAt) }
            let keys = Set(found.map(\.key))
            for gone in dates.pending(of: version.workflow) where !keys.contains(gone) {
                dates[gone] = nil
                count(Count(.notEntered, workflow: version.workflow, cause: "date_gone"))
            }
        }
    }

    private mutating func take(
        _ found: FoundDate, late: Duration, _ workflow: WorkflowID, _ knownAt: Instant
    ) {
        var entry = DateEntry(
            key: found.key, date: found.date, dueAt: found.dueAt, isPending: true)
        if let known = dates[found.key], known.date == found.date {
            guard known.isPending, known.dueAt != found.dueAt else { return }
            dates[found.key] = entry
            return
        }
        if found.dueAt < knownAt, knownAt - found.dueAt > late {
            entry.isPending = false
            count(Count(.notEntered, workflow: workflow, cause: "late"))
        }
        dates[found.key] = entry
    }

    /// Dates as of publishing: those to come wait, those past start nobody.
    mutating func settleDates(of version: DefinitionSet.Version) {
        if turn.customer.createdAt > version.liveSince { return }
        for found in dates(of: version) {
            if let known = dates[found.key], known.date == found.date, !known.isPending { continue }
            dates[found.key] = DateEntry(
                key: found.key, date: found.date, dueAt: found.dueAt,
                isPending: found.dueAt > version.liveSince)
        }
    }

    /// Dates after a merge or an import: what either record had dealt with stays so, and what is past starts nobody.
    mutating func settleMergedDates() {
        for version in definitions.dated {
            let found = dates(of: version)
            for date in found {
                let known = dates[date.key].flatMap { $0.date == date.date ? $0 : nil }
                dates[date.key] = DateEntry(
                    key: date.key, date: date.date, dueAt: date.dueAt,
                    isPending: known?.isPending ?? (date.dueAt > turn.now))
            }
            let keys = Set(found.map(\.key))
            for gone in dates.pending(of: version.workflow) where !keys.contains(gone) {
                dates[gone] = nil
            }
        }
    }

    private func dates(of version: DefinitionSet.Version) -> [FoundDate] {
        guard let trigger = version.date,
            version.definition.environments.contains(turn.customer.environment)
        else { return [] }
        func find(_ subject: String, _ subscription: SubscriptionID?) -> FoundDate? {
            var evaluator = Evaluator(
                scope: Scope(facts, subscription: subscription), facts: facts)
            guard let date = evaluator.instant(trigger.value) else { return nil }
            return FoundDate(
                key: DateEntry.Key(workflow: version.workflow, subject: subject), date: date,
                dueAt: due(date + trigger.offset, at: trigger.at, version.definition))
        }
        if trigger.value.readsSubscription {
            return subscriptions.keys.sorted().compactMap { find($0.description, $0) }
        }
        return [find(trigger.value.subject, nil)].compactMap(\.self)
    }

    /// The shifted instant, or the local time on its local date in the customer's zone (S6, S7).
    private func due(
        _ instant: Instant, at time: LocalTime?, _ definition: WorkflowDefinition
    ) -> Instant {
        guard let time else { return instant }
        let names = [facts.attributes["timezone"]?.string, definition.timezone, facts.defaultZone]
        let rules =
            names.lazy.compactMap { $0.flatMap { facts.zones.rules(named: $0) } }.first
            ?? .utc
        let date = rules.civilTime(at: instant).date
        return rules.instant(of: date, at: time, inOverlap: .earlier)
    }

    /// The entry's time has come: it starts a run, or is counted as what kept it from that.
    mutating func enterWorkflow(by date: DateEntry) {
        var spent = date
        spent.isPending = false
        dates[date.key] = spent
        guard let version = definitions.dated.first(where: { $0.workflow == date.key.workflow })
        else { return }
        let subscription = subscriptions.keys.first { $0.description == date.key.subject }
        enter(
            version,
            by: EntryTrigger(
                cause: date.cause, ordinal: ordinal, recordedAt: turn.now,
                subscription: subscription))
    }
}

extension Value {
    /// Whether it reads `/subscription`, of which a customer may have several.
    fileprivate var readsSubscription: Bool { subject.hasPrefix("/subscription") }

    /// The first pointer that it reads.
    fileprivate var subject: String {
        switch self {
        case .literal(let json): json.text
        case .reference(let pointer, _): pointer.description
        case .template(let source): source
        case .time(let base, moved: _): base.subject
        }
    }
}
