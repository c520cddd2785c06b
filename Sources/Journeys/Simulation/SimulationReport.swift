package import JSON
package import JourneyEngine
package import JourneyModel
package import JourneyTurns
package import TimeZones

/// What a simulation gave.
package struct SimulationReport: Sendable, Hashable {
    /// One visit of a step that is over: left by an outlet, or ended there.
    package struct Transition: Sendable, Hashable {
        package var at: Instant
        package var run: RunID
        package var workflow: WorkflowID
        package var step: StepID
        /// The step's `type`.
        package var type: String
        /// Nil when the run ended in the step.
        package var outlet: String?
        /// How the step's effect ended (`succeeded`, `failed`, `timed_out`, …); `withdrawn` when the run
        /// ended first; nil where none was requested.
        package var effect: String?

        /// `{"at", "run", "step", "type", "outlet", "effect"}`; what is nil is left out.
        package var json: JSONObject {
            var json = JSONObject([
                ("at", .string(at.description)), ("run", .string(run.text)),
                ("step", .string(step.text)), ("type", .string(type)),
            ])
            json["outlet"] = outlet.map { .string($0) }
            json["effect"] = effect.map { .string($0) }
            return json
        }
    }

    /// How a run stands when the simulation is over.
    package struct End: Sendable, Hashable {
        package var run: RunID
        package var workflow: WorkflowID
        /// A status word; `waiting` for a live run.
        package var status: String
        package var reason: String?
        package var converted: Bool

        /// `{"run", "workflow", "status", "reason", "converted"}`; a reason that is nil is left out.
        package var json: JSONObject {
            var json = JSONObject([
                ("run", .string(run.text)), ("workflow", .string(workflow.text)),
                ("status", .string(status)),
            ])
            json["reason"] = reason.map { .string($0) }
            json["converted"] = .bool(converted)
            return json
        }
    }

    /// In the order in which they came about.
    package var transitions: [Transition]
    /// Every run, in the order of entry.
    package var ends: [End]
    /// Where this is not what the case expects, a sentence each; empty for a case that holds.
    package var differences: [String]
    /// Turns that were decided.
    package var turns: Int
    /// What storage would hold: the runs as they stand at the end, in the order of entry, …
    package var runs: [Run] = []
    /// … the rows of their histories, in the order of decision, …
    package var decisions: [Decision] = []
    /// … and the customer's event log.
    package var events: [LoggedEvent] = []
}
