internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import JourneyStorage
internal import JourneyTurns
internal import TimeZones
internal import WorkflowDefinitions

/// How many customers a segment's new definition takes in and lets go, counted before it is published.
///
/// Nobody enters a workflow because of it: who is in the new one as of publishing is what later changes
/// are compared with.
struct SegmentDifference {
    /// Customers that are looked at: beyond them the answer says that it is not the whole.
    static let mostCustomers = 100_000

    struct Change: Sendable, Hashable {
        var enters = 0
        var leaves = 0
    }

    /// Of those that could be counted; others ask for events or features, which only a turn knows.
    private(set) var changes: [SegmentID: Change] = [:]
    /// Whether there were more customers than were looked at.
    private(set) var isPartial = false

    private let segments: [DefinitionSet.Segment]

    /// - Parameters:
    ///   - changed: the segments whose definitions change.
    ///   - set: what is live now.
    init(_ changed: [SegmentDefinition], live set: DefinitionSet) {
        let ids = Set(changed.map(\.id))
        let kept = set.segments.filter { !ids.contains($0.id) }
        let merged = DefinitionSet(
            live: [],
            segments: kept + changed.map { DefinitionSet.Segment(number: 0, definition: $0) })
        // A segment that reads one which cannot be counted cannot be counted either.
        var unknown: Set<SegmentID> = []
        var countable: [DefinitionSet.Segment] = []
        for segment in merged.segments where ids.contains(segment.id) {
            let needs = segment.needs
            if needs.histories.isEmpty, needs.features.isEmpty,
                needs.segments.isDisjoint(with: unknown)
            {
                countable.append(segment)
                changes[segment.id] = Change()
            } else {
                unknown.insert(segment.id)
            }
        }
        segments = countable
    }

    /// Looks at customers of every environment that has any, in pages.
    mutating func count(_ look: LookStore, live set: DefinitionSet, now: Instant) async throws {
        if segments.isEmpty { return }
        var last: CustomerID?
        var seen = 0
        repeat {
            let (page, next) = try await look.customers(after: last)
            for facts in page { add(facts, set, now) }
            seen += page.count
            last = next
            if last != nil, seen >= Self.mostCustomers {
                isPartial = true
                return
            }
        } while last != nil
    }

    private mutating func add(_ customer: CustomerFacts, _ set: DefinitionSet, _ now: Instant) {
        var facts = customer.facts(of: set, now: now)
        for segment in segments {
            var evaluator = Evaluator(scope: Scope(facts), facts: facts)
            let isMember = evaluator.decide(segment.definition.condition).truth == .true
            let since = customer.segments[segment.id]
            if isMember, since == nil { changes[segment.id]?.enters += 1 }
            if !isMember, since != nil { changes[segment.id]?.leaves += 1 }
            facts.segments[segment.id.text] = SegmentFacts(
                isMember: isMember, enteredAt: isMember ? since ?? now : nil)
        }
    }
}
