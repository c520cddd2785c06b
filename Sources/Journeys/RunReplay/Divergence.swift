package import JSON
package import JourneyModel
package import TimeZones

/// The first place where a run's history is not what the engine makes of it.
package struct Divergence: Sendable, Hashable, CustomStringConvertible {
    /// What is the matter; the words are printed and stay.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The engine decides otherwise than the history says, or the run's row is not what the history
        /// makes of it.
        case differs
        /// The row is not as it was written, though the engine decides as it says.
        case altered
        /// A changed definition reads what the history does not hold.
        case notRecorded = "not_recorded"
        /// What must be known was erased.
        case redacted
        /// The run ended so long ago that its history was let go.
        case notKept = "not_kept"
        /// A row is missing, or is not in a form that this version reads.
        case unreadable
    }

    package var kind: Kind
    package var run: RunID
    /// The decision's number; nil for the run's row.
    package var decision: Int?
    package var at: Instant?
    /// The step concerned; nil where the run stands at none.
    package var step: StepID?
    /// Where in the decision's entries, or in the run's row.
    package var place: JSONPointer
    /// What is kept; nil for nothing.
    package var expected: JSONValue?
    /// What the engine gives; nil for nothing.
    package var actual: JSONValue?
    /// What drove the decision, as recorded, without the event's content.
    package var input: JSONValue?

    package init(
        kind: Kind, run: RunID, decision: Int? = nil, at: Instant? = nil, step: StepID? = nil,
        place: JSONPointer = JSONPointer(), expected: JSONValue? = nil, actual: JSONValue? = nil,
        input: JSONValue? = nil
    ) {
        self.kind = kind
        self.run = run
        self.decision = decision
        self.at = at
        self.step = step
        self.place = place
        self.expected = expected
        self.actual = actual
        self.input = input
    }

    /// `{"run", "result", "decision", "at", "step", "place", "expected", "actual", "input"}`; what is nil
    /// is left out.
    package var json: JSONObject {
        var json = JSONObject([("run", .string(run.text)), ("result", .string(kind.rawValue))])
        json["decision"] = decision.map { .integer($0) }
        json["at"] = at.map { .string($0.description) }
        json["step"] = step.map { .string($0.text) }
        if !place.tokens.isEmpty { json["place"] = .string(place.description) }
        json["expected"] = expected
        json["actual"] = actual
        json["input"] = input
        return json
    }

    /// One sentence with the place, both sides and the input.
    package var description: String {
        let row = decision.map { "decision \($0)" } ?? "its row"
        let where_ = step.map { " at step \($0)" } ?? ""
        let inside = place.tokens.isEmpty ? "" : ", \(place)"
        return "run \(run), \(row)\(where_)\(inside): \(fact)\(cause)"
    }

    private var fact: String {
        switch kind {
        case .differs:
            "the history holds \(Self.told(expected)), but the engine gives \(Self.told(actual))"
        case .altered: "the row is not as it was written"
        case .notRecorded:
            "the definition reads \(Self.told(actual)), which the history does not hold"
        case .redacted: "what the engine needs was erased"
        case .notKept: "its history is past its retention and was let go"
        case .unreadable: "the history cannot be read: \(Self.told(actual))"
        }
    }

    private var cause: String { input.map { "; the input was \(Self.told($0))" } ?? "" }

    private static func told(_ value: JSONValue?) -> String {
        guard let value else { return "nothing" }
        let text = value.string ?? value.text
        return text.count > 160 ? "\(text.prefix(160))…" : text
    }
}
