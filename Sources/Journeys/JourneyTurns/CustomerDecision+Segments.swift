internal import JourneyEngine
internal import JourneyModel
internal import TimeZones
internal import WorkflowDefinitions

// Segments: membership follows what it reads, and each change is an input of the next turn (S2).
extension CustomerDecision {
    /// What was published since the customer's last turn is compared with the customer as of publishing:
    /// nobody enters a segment, or reaches a date, because something was published or edited.
    mutating func compareWithPublished() {
        let seen = turn.customer.definitionsSeen
        guard seen < definitions.stateRevision else { return }
        for segment in definitions.segments where segment.liveRevision > seen {
            if turn.customer.createdAt > segment.liveSince {
                segments.unreviewed.insert(segment.id)
                continue
            }
            var before = facts
            before.now = segment.liveSince
            var evaluator = Evaluator(scope: Scope(before), facts: before)
            let isMember = evaluator.decide(segment.definition.condition).truth == .true
            let since = segments.members[segment.id] ?? segment.liveSince
            segments.settle(segment.id, since: isMember ? since : nil)
            setFacts(of: segment.id)
        }
        for version in definitions.dated where version.liveRevision > seen {
            settleDates(of: version)
        }
    }

    /// Decides memberships anew, each after those that it reads.
    ///
    /// - Parameters:
    ///   - depth: of the input that may have changed them.
    ///   - isAffected: whether a segment reads what has changed.
    mutating func reviewSegments(
        depth: Int, where isAffected: (DefinitionSet.Segment) -> Bool
    ) {
        var moved: Set<SegmentID> = []
        for segment in definitions.segments
        where isAffected(segment) || segments.unreviewed.contains(segment.id)
            || !segment.needs.segments.isDisjoint(with: moved)
        {
            var evaluator = Evaluator(scope: Scope(facts), facts: facts)
            let verdict = evaluator.decide(segment.definition.condition)
            segments.note(segment.id, changesAt: verdict.changesAt)
            let isMember = verdict.truth == .true
            guard isMember != (segments.members[segment.id] != nil) else { continue }
            let at = segments.move(segment.id, isMember: isMember, now: turn.now)
            setFacts(of: segment.id)
            moved.insert(segment.id)
            result.emitted.append(
                .event(
                    .segmentChange(
                        segment.id.text, entered: isMember, customer: turn.customer.id,
                        environment: turn.customer.environment, at: at, depth: depth + 1)))
        }
    }

    /// Takes memberships as they are now without telling anybody: nobody enters a segment, or leaves one,
    /// because of a merge or an import.
    ///
    /// - Parameter isAffected: the segments to look at, besides those that read one that changed.
    mutating func settleSegments(where isAffected: (DefinitionSet.Segment) -> Bool = { _ in true })
    {
        var moved: Set<SegmentID> = []
        for segment in definitions.segments
        where isAffected(segment) || !segment.needs.segments.isDisjoint(with: moved) {
            var evaluator = Evaluator(scope: Scope(facts), facts: facts)
            let verdict = evaluator.decide(segment.definition.condition)
            segments.note(segment.id, changesAt: verdict.changesAt)
            let isMember = verdict.truth == .true
            if isMember != (segments.members[segment.id] != nil) { moved.insert(segment.id) }
            let since = segments.members[segment.id] ?? turn.now
            segments.settle(segment.id, since: isMember ? since : nil)
            setFacts(of: segment.id)
        }
    }

    private mutating func setFacts(of segment: SegmentID) {
        let since = segments.members[segment]
        facts.segments[segment.text] = SegmentFacts(isMember: since != nil, enteredAt: since)
    }
}
