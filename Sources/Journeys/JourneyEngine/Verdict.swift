package import JSON
package import TimeZones

/// A condition's answer: *true*, *false*, or *unknown* when a value it needs is missing or of
/// another type (S11). Only *true* takes a branch.
package enum Truth: String, Sendable, Hashable, CaseIterable {
    case `true`
    case `false`
    case unknown

    init(_ value: Bool) { self = value ? .true : .false }

    /// Kleene's negation: unknown stays unknown.
    var negated: Truth {
        switch self {
        case .true: .false
        case .false: .true
        case .unknown: .unknown
        }
    }
}

/// The answer with the leaves that decided it and when time alone could change it.
package struct Verdict: Sendable, Hashable {
    /// One operator without operators inside, as evaluated.
    package struct Leaf: Sendable, Hashable {
        /// Where it stands in the condition.
        package let pointer: JSONPointer
        package let operation: String
        /// Operand values; nil for missing.
        package let operands: [JSONValue?]
        package let truth: Truth

        /// `{"at", "operator", "values", "result"}`, a missing value as `{"missing": true}`.
        package var json: JSONValue {
            [
                "at": .string(pointer.description), "operator": .string(operation),
                "values": .array(operands.map { $0 ?? ["missing": true] }),
                "result": .string(truth.rawValue),
            ]
        }
    }

    package let truth: Truth
    package let because: [Leaf]
    /// The earliest later instant at which the answer could change without any input; nil for never.
    package let changesAt: Instant?
}
