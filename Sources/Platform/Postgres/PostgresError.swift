/// What went wrong between this process and PostgreSQL.
///
/// `description` is one sentence with the fact, the place and the next step; it never holds parameter
/// values (details of integrity and data errors, which quote them, are withheld).
package struct PostgresError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What happened, for callers that branch.
    package enum Kind: Sendable, Hashable {
        /// No connection could be made, or it was refused.
        case unreachable
        /// The connection broke while the statement ran, or before it was sent.
        case connectionLost
        /// The connection or pool was closed by this process.
        case closed
        /// The statement's timeout passed, on this side or the server's.
        case timedOut
        /// The task was cancelled, or somebody cancelled the statement.
        case cancelled
        /// No connection became free in time, or too much is queued.
        case exhausted
        /// The server refused the statement: see ``PostgresError/sqlState``.
        case server
        /// A column does not hold what the caller asks for.
        case decoding
        /// The schema cannot be brought to the version wanted.
        case migration
    }

    package var kind: Kind
    /// Five characters, when the server spoke.
    package var sqlState: String?
    /// The statement's name.
    package var statement: String?
    /// The fact, without statement and next step.
    package var message: String
    /// The constraint that refused, when one did.
    package var constraint: String?
    /// Whether what was sent may have been committed all the same.
    package var outcomeUnknown = false
    /// The server dropped or outdated a prepared statement: the statement may be sent again.
    var isStalePlan = false

    package init(
        kind: Kind, message: String, sqlState: String? = nil, statement: String? = nil,
        constraint: String? = nil, outcomeUnknown: Bool = false
    ) {
        self.kind = kind
        self.message = message
        self.sqlState = sqlState
        self.statement = statement
        self.constraint = constraint
        self.outcomeUnknown = outcomeUnknown
    }

    /// Serialization failures and deadlocks: the same transaction may succeed when run again.
    package var isRetryable: Bool { sqlState == "40001" || sqlState == "40P01" }

    /// Whether the database was out of reach, rather than unwilling.
    package var isConnectionFailure: Bool { kind == .unreachable || kind == .connectionLost }

    package var description: String {
        var text = fact
        var marks: [String] = []
        if let sqlState { marks.append("SQLSTATE \(sqlState)") }
        if let constraint { marks.append("constraint \(constraint)") }
        if !marks.isEmpty { text += " (" + marks.joined(separator: ", ") + ")" }
        return text + "; " + nextStep
    }

    private var fact: String {
        let place = statement.map { "statement \($0)" } ?? "a statement"
        return switch kind {
        case .unreachable: "cannot reach PostgreSQL: \(message)"
        case .connectionLost: "\(place) lost its connection to PostgreSQL: \(message)"
        case .closed, .exhausted, .migration: message
        case .timedOut: "\(place) did not finish in time: \(message)"
        case .cancelled: "\(place) was cancelled: \(message)"
        case .server: "PostgreSQL refused \(place): \(message)"
        case .decoding: "the answer to \(place) cannot be read: \(message)"
        }
    }

    private var nextStep: String {
        if outcomeUnknown { return "it may have been committed: look before doing it again" }
        return switch kind {
        case .unreachable: "check that the server runs and that the address and role are right"
        case .connectionLost: "nothing was committed, try again"
        case .closed: "open a new one"
        case .timedOut: "nothing was committed, look for locks or raise its timeout"
        case .cancelled: "nothing was committed"
        case .exhausted: "wait, lower the load or raise the number of connections"
        case .server: isRetryable ? "try again" : "correct the statement, its values or the rights"
        case .decoding: "compare the statement with the schema's version"
        case .migration: "see the migrations' status"
        }
    }
}
