internal import JSON
package import JourneyModel
package import TimeZones
package import WorkflowDefinitions

/// The published definitions that a turn decides by, with what they need compiled once.
package struct DefinitionSet: Sendable {
    /// One version of a workflow.
    package struct Version: Sendable, Hashable {
        package var workflow: WorkflowID
        package var number: Int
        package var digest: String
        package var definition: WorkflowDefinition
        /// The catalogue's revision from which on it is the live version; 0 for one that is not.
        package var liveRevision: Int64
        /// When it became the live version.
        package var liveSince: Instant
        /// What it reads, anywhere in it.
        package let needs: Needs
        /// Whether one of its filters reads `/event/raw`.
        package let readsRaw: Bool

        package init(
            workflow: WorkflowID, number: Int, digest: String, definition: WorkflowDefinition,
            liveRevision: Int64 = 0, liveSince: Instant = .earliest, readsRaw: Bool = false
        ) {
            self.workflow = workflow
            self.number = number
            self.digest = digest
            self.definition = definition
            self.liveRevision = liveRevision
            self.liveSince = liveSince
            self.readsRaw = readsRaw
            needs = definition.needs
        }

        /// The date that starts it, if one does.
        package var date: DateTrigger? {
            if case .date(let date) = definition.entry.trigger { date } else { nil }
        }
    }

    /// The live version of a segment.
    package struct Segment: Sendable, Hashable {
        package var number: Int
        package var digest: String
        package var definition: SegmentDefinition
        /// As of ``Version/liveRevision``: membership as of then is compared with what comes later.
        package var liveRevision: Int64
        package var liveSince: Instant
        package let needs: Needs

        package var id: SegmentID { definition.id }

        package init(
            number: Int, digest: String = "", definition: SegmentDefinition,
            liveRevision: Int64 = 0, liveSince: Instant = .earliest
        ) {
            self.number = number
            self.digest = digest
            self.definition = definition
            self.liveRevision = liveRevision
            self.liveSince = liveSince
            needs = definition.needs
        }
    }

    /// The versions that new runs enter, in workflow id order.
    package let live: [Version]
    /// Older versions that live runs still follow.
    package let older: [Version]
    /// Each after those that it reads.
    package let segments: [Segment]
    /// Live versions that a date starts.
    package let dated: [Version]
    /// Everything that any of them reads.
    package let needs: Needs
    package let readsRaw: Bool
    /// The greatest revision at which a segment or a date trigger went live: a customer who has seen it
    /// was compared with all of them.
    package let stateRevision: Int64
    private let byID: [WorkflowID: [Version]]

    package init(live: [Version], older: [Version] = [], segments: [Segment] = []) {
        self.live = live.sorted { $0.workflow < $1.workflow }
        self.older = older
        self.segments = Self.ordered(segments)
        dated = self.live.filter { $0.date != nil }
        byID = Dictionary(grouping: live + older, by: \.workflow)
        var needs = Needs()
        for version in live + older { needs.formUnion(version.needs) }
        for segment in segments { needs.formUnion(segment.needs) }
        self.needs = needs
        readsRaw = (live + older).contains(where: \.readsRaw)
        stateRevision =
            (segments.map(\.liveRevision) + dated.map(\.liveRevision)).max() ?? 0
    }

    /// The definition a run follows; nil when it could not be loaded (S18: its runs stand still).
    package func version(_ number: Int, of workflow: WorkflowID) -> Version? {
        byID[workflow]?.first { $0.number == number }
    }

    /// The version that new runs of a workflow enter.
    package func live(_ workflow: WorkflowID) -> Version? {
        live.first { $0.workflow == workflow }
    }

    /// The same with older versions added.
    package func adding(_ versions: [Version]) -> DefinitionSet {
        DefinitionSet(live: live, older: older + versions, segments: segments)
    }

    /// Publishing refuses circles; whatever stands in one all the same comes last, by id.
    private static func ordered(_ segments: [Segment]) -> [Segment] {
        var rest = segments.sorted { $0.id < $1.id }
        var ordered: [Segment] = []
        while !rest.isEmpty {
            let open = Set(rest.map(\.id))
            let ready = rest.filter {
                $0.needs.segments.subtracting([$0.id]).isDisjoint(with: open)
            }
            ordered += ready.isEmpty ? rest : ready
            if ready.isEmpty { break }
            rest.removeAll { segment in ready.contains { $0.id == segment.id } }
        }
        return ordered
    }
}
