/// How much a log line matters.
package enum LogLevel: String, Sendable, Hashable, CaseIterable, Comparable {
    /// Single steps; for finding a fault in the product itself.
    case trace
    /// What a room does, for someone who follows one case.
    case debug
    /// What an operator wants to know on a quiet day.
    case info
    /// Something to look at soon; the product goes on.
    case warning
    /// Something did not work and nobody else will report it.
    case error

    private var rank: Int {
        switch self {
        case .trace: 0
        case .debug: 1
        case .info: 2
        case .warning: 3
        case .error: 4
        }
    }

    /// Whether `left` matters less.
    package static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }
}

/// How log lines look.
package enum LogFormat: String, Sendable, Hashable, CaseIterable {
    /// One JSON object a line.
    case json
    /// For people.
    case text
}

/// How the ids of customers appear in the log.
package enum CustomerIDPolicy: Sendable {
    /// As they are.
    case plain
    /// As `closure(id)`, so that lines of one customer can still be found; pass a keyed digest.
    case hash(@Sendable (String) -> String)
}

/// A value of a log line.
package enum LogValue: Sendable, Hashable {
    case text(String)
    case integer(Int64)
    case number(Double)
    case flag(Bool)
    /// The id of a person; see ``CustomerIDPolicy``.
    case customer(String)
}

extension LogValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByFloatLiteral
{
    /// A text.
    package init(stringLiteral value: String) { self = .text(value) }
    /// A whole number.
    package init(integerLiteral value: Int64) { self = .integer(value) }
    /// A flag.
    package init(booleanLiteral value: Bool) { self = .flag(value) }
    /// A number.
    package init(floatLiteral value: Double) { self = .number(value) }
    /// A whole number that is not a literal.
    package static func integer(_ value: Int) -> LogValue { .integer(Int64(value)) }
}
