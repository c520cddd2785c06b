package import JourneyModel
package import WorkflowDefinitions

/// A workflow as boxes and lines, for people: who enters, what each step does, where each outlet leads.
package struct WorkflowDrawing: Sendable, Hashable {
    /// What it can be written as.
    package enum Form: String, Sendable, Hashable, CaseIterable {
        /// A tree in plain characters; a step drawn before is named, not drawn again.
        case ascii
        /// Graphviz.
        case dot
        /// A Mermaid flowchart.
        case mermaid
        /// A picture that browsers show, in light and dark.
        case svg
    }

    /// A box.
    struct Node: Sendable, Hashable {
        enum Kind: Sendable, Hashable {
            /// Who enters.
            case entry
            /// Stands still for time, events or conditions.
            case waiting
            /// Goes one of several ways at once.
            case deciding
            /// Does something, outside or to the customer.
            case acting
            /// The run is over.
            case ending
        }

        /// A step's id; `entry` and `end` are bracketed so that no step has them.
        var id: String
        var kind: Kind
        var title: String
        /// What it does, in words.
        var phrase: String
        var note: String?
        /// Live runs that stand there; nil when they were not counted.
        var count: Int?
    }

    /// An outlet with where it leads.
    struct Line: Sendable, Hashable {
        var from: String
        var to: String
        /// Empty for the one way on.
        var label: String
    }

    static let entryID = "[entry]"
    static let endID = "[end]"

    let title: String
    /// What ends a run from outside its steps, a sentence each.
    let rules: [String]
    /// In the order in which a walk from the entry meets them; the end stands last.
    let nodes: [Node]
    let lines: [Line]
    private let linesByStart: [String: [Line]]

    /// - Parameter counts: live runs by the step they stand at; nil draws no counts.
    package init(_ definition: WorkflowDefinition, counts: [StepID: Int]? = nil) {
        title = "\(definition.id) (\(definition.kind.rawValue))"
        rules = StepPhrases.rules(of: definition)
        var nodes = [
            Node(
                id: Self.entryID, kind: .entry, title: "enters",
                phrase: StepPhrases.phrase(of: definition.entry))
        ]
        var lines = [Line(from: Self.entryID, to: definition.start.text, label: "")]
        for id in definition.stepOrder {
            guard let step = definition.steps[id] else { continue }
            nodes.append(
                Node(
                    id: id.text, kind: Node.Kind(step.action), title: id.text,
                    phrase: StepPhrases.phrase(of: step.action), note: step.note ?? step.name,
                    count: counts.map { $0[id] ?? 0 }))
            for (name, edge) in step.outlets {
                lines.append(
                    Line(from: id.text, to: Self.target(of: edge), label: name))
            }
        }
        if lines.contains(where: { $0.to == Self.endID }) {
            nodes.append(Node(id: Self.endID, kind: .ending, title: "end", phrase: "completed"))
        }
        self.nodes = nodes
        self.lines = lines
        linesByStart = Dictionary(grouping: lines, by: \.from)
    }

    /// The drawing as text that ends with a line feed.
    package func text(_ form: Form) -> String {
        switch form {
        case .ascii: ascii
        case .dot: dot
        case .mermaid: mermaid
        case .svg: svg
        }
    }

    func lines(from id: String) -> [Line] { linesByStart[id] ?? [] }

    private static func target(of edge: Edge) -> String {
        switch edge {
        case .step(let id): id.text
        case .end: endID
        }
    }
}

extension WorkflowDrawing.Node {
    /// Its words, and how many stand there.
    var caption: String { count.map { "\(phrase) · \($0) here" } ?? phrase }
}

extension WorkflowDrawing.Node.Kind {
    fileprivate init(_ action: Step.Action) {
        switch action {
        case .delay, .waitUntil, .timeWindow: self = .waiting
        case .branch, .experiment: self = .deciding
        case .action, .sendEvent, .updateCustomer, .milestone, .startRun, .exitRun: self = .acting
        case .exit: self = .ending
        }
    }
}
