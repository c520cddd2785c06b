package import JSON
package import JourneyEngine
package import JourneyModel
package import TimeZones

/// One imagined customer: what happens to them, how effects end, and what the workflow should make
/// of it.
package struct SimulationCase: Sendable, Hashable {
    /// Something that happens.
    package struct Happening: Sendable, Hashable {
        /// What happens. Time, schedules and dates come of themselves.
        package enum What: Sendable, Hashable {
            /// An outcome, an event of the app's own, or `provider:<connector>:<TYPE>`.
            case event(String, properties: JSONObject)
            /// The app or an operator starts a workflow by its name.
            case start(WorkflowID, key: String?)
            /// What the feature house says from now on, by feature.
            case features([String: FeatureAnswer])
        }

        package var at: Instant
        package var what: What

        package init(at: Instant, _ what: What) {
            self.at = at
            self.what = what
        }

        package init(at: Instant, event: String, properties: JSONObject = JSONObject()) {
            self.init(at: at, .event(event, properties: properties))
        }
    }

    /// How a step's effect ends. Several answers of one step serve its visits in turn; the last one
    /// serves all that follow.
    package struct Answer: Sendable, Hashable {
        package var step: StepID
        /// Nil for the tool's usual success.
        package var outcome: EffectOutcome?
        /// How long after the request; zero for at once.
        package var after: Duration

        package init(step: StepID, outcome: EffectOutcome? = nil, after: Duration = .zero) {
            self.step = step
            self.outcome = outcome
            self.after = after
        }
    }

    /// A transition that should come about; what is nil is not compared.
    package struct Expectation: Sendable, Hashable {
        package var at: Instant
        package var step: StepID
        package var type: String
        package var outlet: String?
        package var effect: String?

        package init(
            at: Instant, step: StepID, type: String, outlet: String? = nil, effect: String? = nil
        ) {
            self.at = at
            self.step = step
            self.type = type
            self.outlet = outlet
            self.effect = effect
        }
    }

    /// How the run that entered last should stand at the end; what is nil is not compared.
    package struct Ending: Sendable, Hashable {
        /// A status word; `waiting` for a run that is still live.
        package var status: String
        package var reason: String?
        package var converted: Bool?

        package init(status: String, reason: String? = nil, converted: Bool? = nil) {
            self.status = status
            self.reason = reason
            self.converted = converted
        }
    }

    /// Attributes, `/customer`.
    package var customer: JSONObject
    /// `/features` as the case begins; features that are not named are unknown.
    package var features: [String: FeatureAnswer]
    /// From when on the customer is known and time runs; nil for the first happening.
    package var from: Instant?
    /// In the order of time.
    package var happenings: [Happening]
    package var answers: [Answer]
    /// Accounts whose actions are messages to the customer; nil for all that `http` goes over.
    package var messaging: Set<String>?
    /// The last instant looked at, included.
    package var until: Instant
    /// All transitions, in order; nil where none are expected and none compared.
    package var expectations: [Expectation]?
    package var ending: Ending?

    package init(
        customer: JSONObject = JSONObject(), features: [String: FeatureAnswer] = [:],
        from: Instant? = nil, happenings: [Happening], answers: [Answer] = [],
        messaging: Set<String>? = nil, until: Instant, expectations: [Expectation]?,
        ending: Ending? = nil
    ) {
        self.customer = customer
        self.features = features
        self.from = from
        self.happenings = happenings
        self.answers = answers
        self.messaging = messaging
        self.until = until
        self.expectations = expectations
        self.ending = ending
    }
}

/// A case that cannot be read, with everything that is wrong with it.
package struct SimulationCaseError: Error, Sendable, Hashable, CustomStringConvertible {
    /// One thing that is wrong.
    package struct Problem: Sendable, Hashable, CustomStringConvertible {
        package let pointer: JSONPointer
        /// The fact and the next step.
        package let sentence: String

        package var description: String {
            "\(pointer.tokens.isEmpty ? "/" : pointer.description): \(sentence)"
        }
    }

    /// At least one, in the order of the text.
    package let problems: [Problem]

    package var description: String { problems.map(\.description).joined(separator: "\n") }
}
