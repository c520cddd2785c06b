package import JourneyModel

/// What stands beside a definition file and is checked against it.
package struct DefinitionContext: Sendable {
    /// The app's own events.
    package var events: EventDeclarations
    /// Every segment there is; nil leaves their names unchecked.
    package var segments: Set<SegmentID>?
    /// Every experiment there is: those that are used are copied into the published form.
    package var experiments: [ExperimentID: ExperimentDefinition]
    /// Every workflow there is, with whether its trigger is `api`; nil leaves them unchecked.
    package var workflows: [WorkflowID: Bool]?
    /// Every zone of the tz database; nil leaves all but the pattern of a name unchecked.
    package var zones: Set<String>?

    package init(
        events: EventDeclarations = EventDeclarations(), segments: Set<SegmentID>? = nil,
        experiments: [ExperimentID: ExperimentDefinition] = [:],
        workflows: [WorkflowID: Bool]? = nil, zones: Set<String>? = nil
    ) {
        self.events = events
        self.segments = segments
        self.experiments = experiments
        self.workflows = workflows
        self.zones = zones
    }
}
