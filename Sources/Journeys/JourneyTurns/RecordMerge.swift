internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import TimeZones
internal import WorkflowDefinitions

/// Two records that turn out to be one person, and what becomes of them (S10).
///
/// The survivor is the identified one, else the older. What both knew of a subscription is merged field by
/// field, whatever came last; attributes and variants go over where the survivor lacks them. Old events of
/// one record are not offered to the other's runs: nothing starts or goes on because of a merge but what
/// reads the customer's state.
package struct RecordMerge: Sendable {
    /// One of the two.
    package struct Side: Sendable {
        /// Everything a turn would read, without inputs.
        package var turn: CustomerTurn
        /// Whether a person's own id stands for it.
        package var isIdentified: Bool

        package init(turn: CustomerTurn, isIdentified: Bool) {
            self.turn = turn
            self.isIdentified = isIdentified
        }
    }

    package let survivor: Side
    package let merged: Side

    /// - Parameters: the two records, in any order; both of one environment and app.
    package init(_ one: Side, _ other: Side) {
        let first =
            one.isIdentified == other.isIdentified
            ? (one.turn.customer.createdAt, one.turn.customer.id)
                < (other.turn.customer.createdAt, other.turn.customer.id)
            : one.isIdentified
        survivor = first ? one : other
        merged = first ? other : one
    }

    /// By how much ordinals of the record that goes grow.
    package var shift: Int64 { survivor.turn.customer.inputsTaken }

    /// The turn that the survivor would have with both records' rows, without inputs.
    var joined: CustomerTurn {
        var turn = survivor.turn
        let other = merged.turn
        for (name, value) in other.customer.attributes
        where turn.customer.attributes[name] == nil && turn.customer.setters[name] == nil {
            turn.customer.attributes[name] = value
            turn.customer.setters[name] = other.customer.setters[name]
        }
        for (name, setter) in other.customer.setters
        where turn.customer.setters[name] == nil && turn.customer.attributes[name] == nil {
            turn.customer.setters[name] = setter
        }
        turn.customer.inputsTaken += other.customer.inputsTaken + 1
        turn.hasAllInputs = true
        turn.runs += other.runs
        turn.log += other.log.map {
            LoggedEvent(
                ordinal: $0.ordinal + shift, recordedAt: $0.recordedAt, event: $0.event)
        }
        turn.eventsKnownSince = max(turn.eventsKnownSince, other.eventsKnownSince)
        turn.bodies.merge(other.bodies) { first, _ in first }
        turn.assignments.merge(other.assignments) { first, _ in first }
        var subscriptions = Dictionary(
            turn.subscriptions.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        for state in other.subscriptions {
            subscriptions[state.id, default: SubscriptionState(id: state.id)].merge(state)
        }
        turn.subscriptions = subscriptions.values.sorted { $0.id < $1.id }
        turn.now = max(turn.now, other.now)
        return turn
    }
}

extension CustomerDecision {
    /// What comes of a merge; the turn is the joined one.
    mutating func merge(_ merge: RecordMerge) -> TurnResult {
        let (survivor, other) = (merge.survivor.turn, merge.merged.turn)
        changedSubscriptions = Set(other.subscriptions.map(\.id))
        result.assignments = other.assignments.filter { survivor.assignments[$0.key] == nil }
            .sorted { $0.key < $1.key }.map { Assignment(experiment: $0.key, variant: $0.value) }
        segments = SegmentReview(
            members: survivor.segments.merging(other.segments) { first, _ in first })
        facts.segments = segments.facts(of: definitions)
        dates = DateReview(entries: Self.joined(survivor.dates, other.dates))
        settleSegments()
        settleMergedDates()
        let slots = endRivals(of: Set(other.runs.map(\.id)))
        for run in runs {
            let isMoved = other.runs.contains { $0.id == run.id }
            guard isMoved || run.status.isLive, let engine = engine(of: run) else { continue }
            let hidden = (merge.shift + 1)...(merge.shift + max(other.customer.inputsTaken, 1))
            apply(
                engine.move(
                    run,
                    by: RunMove(
                        from: isMoved ? other.customer.id : survivor.customer.id,
                        into: survivor.customer.id, shift: isMoved ? merge.shift : 0,
                        hides: isMoved || other.customer.inputsTaken == 0 ? nil : hidden,
                        slot: slots[run.id]), ordinal: ordinal, facts: facts))
        }
        count(Count(.merged))
        lookOnceMore()
        return finish()
    }

    /// Which dates were dealt with by either record stay so.
    private static func joined(_ own: [DateEntry], _ others: [DateEntry]) -> [DateEntry] {
        var entries = Dictionary(own.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        for entry in others {
            if let known = entries[entry.key] {
                guard known.date == entry.date else { continue }
                entries[entry.key]?.isPending = known.isPending && entry.isPending
            } else {
                entries[entry.key] = entry
            }
        }
        return entries.values.sorted { $0.key < $1.key }
    }

    /// Of live runs with one workflow and key the oldest stays; where the workflow admits several at once,
    /// those that come take free slots.
    ///
    /// - Returns: the slots of runs that take another.
    private mutating func endRivals(of moved: Set<RunID>) -> [RunID: Int] {
        var slots: [RunID: Int] = [:]
        var seen: Set<RunID> = []
        for run in runs where run.status.isLive && !seen.contains(run.id) {
            let group = runs.filter {
                $0.status.isLive && $0.workflow == run.workflow && isSameKey($0.key, run.key)
            }
            seen.formUnion(group.map(\.id))
            let coming = group.filter { moved.contains($0.id) }
            if coming.isEmpty || coming.count == group.count { continue }
            var rivals: [Run] = []
            if definitions.version(run.version, of: run.workflow)?.definition.entry.whenLive
                == .startAnother
            {
                var taken = Set(group.filter { !moved.contains($0.id) }.map(\.slot))
                for run in coming {
                    let free = ([run.slot] + Array(0..<25)).first { !taken.contains($0) }
                    guard let free else {
                        rivals.append(run)
                        continue
                    }
                    taken.insert(free)
                    if free != run.slot { slots[run.id] = free }
                }
            } else {
                rivals = Array(group.dropFirst())
            }
            for rival in rivals {
                guard let engine = engine(of: rival) else { continue }
                apply(
                    engine.end(
                        rival, as: .superseded(reason: "merged"), ordinal: ordinal, facts: facts))
            }
        }
        return slots
    }
}

extension TurnDecider {
    /// What comes of a merge: the survivor's rows, with the runs of both. No input is taken.
    ///
    /// - Throws: ``Unserved`` when a run follows a version that this process cannot read.
    package func decide(_ merge: RecordMerge) throws(Unserved) -> TurnResult {
        for side in [merge.survivor, merge.merged] {
            if let lack = lacks(for: side.turn) { throw lack }
        }
        var joined = merge.joined
        // What is stored of the survivor is what changes are told against.
        joined.segments = merge.survivor.turn.segments
        joined.dates = merge.survivor.turn.dates
        var decision = CustomerDecision(
            turn: joined, definitions: definitions, inputs: [], zones: zones,
            defaultZone: defaultZone, outbound: outbound)
        return decision.merge(merge)
    }
}
