package import JourneyModel

/// One published (or publishable) version of a workflow, read and checked.
package struct WorkflowDefinition: Sendable, Hashable {
    /// The two kinds of workflows.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Stateful, per customer, lasting days.
        case journey
        /// One event, a few actions, done: it holds nothing that waits for time or events.
        case automation
    }

    package var id: WorkflowID
    package var kind: Kind
    package var name: String?
    package var description: String?
    package var tags: [String]
    /// Environments whose events start and reach runs.
    package var environments: [String]
    /// Default zone of this workflow; nil for the configuration's.
    package var timezone: String?
    package var entry: Entry
    package var goal: Goal?
    package var exitPolicy: ExitPolicy
    package var exits: [ExitRule]
    package var limits: Limits
    package var start: StepID
    package var steps: [StepID: Step]
    /// Every step once, as a walk from ``start`` along the outlets meets them: the order for people.
    /// It follows from the content, so a stored form (whose keys are sorted) has the same.
    package var stepOrder: [StepID]
    /// Templates by name, for `{{> name}}` in this workflow's templates.
    package var partials: [String: String]
    /// The experiments of the `experiment` steps as they were when this version was published.
    package var experiments: [ExperimentID: ExperimentDefinition]

    package init(
        id: WorkflowID, kind: Kind, name: String? = nil, description: String? = nil,
        tags: [String] = [], environments: [String] = ["production"], timezone: String? = nil,
        entry: Entry, goal: Goal? = nil, exitPolicy: ExitPolicy = .never, exits: [ExitRule] = [],
        limits: Limits = Limits(), start: StepID, steps: [StepID: Step], stepOrder: [StepID],
        partials: [String: String] = [:], experiments: [ExperimentID: ExperimentDefinition] = [:]
    ) {
        self.id = id
        self.kind = kind
        self.name = name
        self.description = description
        self.tags = tags
        self.environments = environments
        self.timezone = timezone
        self.entry = entry
        self.goal = goal
        self.exitPolicy = exitPolicy
        self.exits = exits
        self.limits = limits
        self.start = start
        self.steps = steps
        self.stepOrder = stepOrder
        self.partials = partials
        self.experiments = experiments
    }
}

/// A definition with the form it is published in.
package struct PublishedWorkflow: Sendable, Hashable {
    package let definition: WorkflowDefinition
    /// RFC 8785 canonical JSON with every default written out.
    package let canonical: [UInt8]
    /// Lowercase hex SHA-256 of ``canonical``.
    package let digest: String

    package init(definition: WorkflowDefinition, canonical: [UInt8], digest: String) {
        self.definition = definition
        self.canonical = canonical
        self.digest = digest
    }
}
