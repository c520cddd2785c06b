internal import JourneyEngine
internal import JourneyModel
internal import TimeZones

/// A customer's memberships as a turn goes on.
struct SegmentReview {
    /// Since when the customer is in each; who is in none has no entry.
    private(set) var members: [SegmentID: Instant]
    /// When time alone could change a membership.
    private var changesAt: [SegmentID: Instant] = [:]
    /// Segments that nothing was ever compared with, since the customer came after them.
    var unreviewed: Set<SegmentID> = []
    private var lastMoves: [SegmentID: Instant] = [:]

    init(members: [SegmentID: Instant]) { self.members = members }

    var earliestChange: Instant? { changesAt.values.min() }

    /// What conditions read: a known segment without an entry has no member here.
    func facts(of definitions: DefinitionSet) -> [String: SegmentFacts] {
        var facts: [String: SegmentFacts] = [:]
        for segment in definitions.segments {
            let since = members[segment.id]
            facts[segment.id.text] = SegmentFacts(isMember: since != nil, enteredAt: since)
        }
        return facts
    }

    mutating func note(_ id: SegmentID, changesAt instant: Instant?) {
        changesAt[id] = instant
        unreviewed.remove(id)
    }

    /// Takes a membership without telling anybody: the state that later changes are compared with.
    mutating func settle(_ id: SegmentID, since: Instant?) { members[id] = since }

    /// Changes a membership; changes of one segment within a turn are a millisecond apart, so that each
    /// is one of its own.
    ///
    /// - Returns: when it changed.
    mutating func move(_ id: SegmentID, isMember: Bool, now: Instant) -> Instant {
        let earliest = lastMoves[id].map { $0 + .milliseconds(1) } ?? now
        let at = max(now, earliest)
        lastMoves[id] = at
        members[id] = isMember ? at : nil
        return at
    }

    /// Rows to write: the new time of entry, or nil for who left.
    func changes(since before: [SegmentID: Instant]) -> [SegmentChange] {
        Set(before.keys).union(members.keys).sorted().compactMap { id in
            before[id] == members[id]
                ? nil : SegmentChange(segment: id, enteredAt: members[id])
        }
    }
}
