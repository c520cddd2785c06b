internal import CPostgres
internal import Reactor

/// What one caller asks of a connection: statements that end with one sync, hence succeed or fail together.
struct PostgresBatch: Sendable {
    var items: [(statement: SQLStatement, values: [PostgresValue])]
    /// A transaction block is open, or the first item opens one.
    var isInTransaction = false
    /// The last item is `commit`.
    var commits = false
    /// Clean-up runs in cancelled tasks too.
    var ignoresCancellation = false

    /// Whether a lost connection leaves open if the work was committed: the sync commits by itself.
    var mayCommit: Bool { commits || !isInTransaction }

    /// Statements run one after another, but one that hangs should not wait for the sum of all.
    var timeout: Duration { items.map(\.statement.timeout).max() ?? .seconds(10) }
}

/// A batch (or a script) on its way; it lives on the loop's thread, inside its connection.
final class Exchange {
    enum Step {
        case prepare(wireName: String, statement: String)
        case execute(statement: String)
    }

    /// Why its caller wants it over.
    enum Wish {
        case none, timeout, cancellation
    }

    typealias Outcome = Result<[PostgresResult], PostgresError>

    let id: Int
    let isScript: Bool
    let mayCommit: Bool
    let timeout: Duration
    let start = ContinuousClock.now
    var steps: [Step] = []
    /// The step whose result comes next.
    var position = 0
    /// Whether that step's first result came.
    var hasResult = false
    var results: [PostgresResult] = []
    var error: PostgresError?
    var wish = Wish.none
    var timer: LoopTimer?
    private var continuation: CheckedContinuation<Outcome, Never>?
    /// The outcome that came before anybody waited for it.
    private var early: Outcome?

    init(id: Int, isScript: Bool, mayCommit: Bool, timeout: Duration) {
        self.id = id
        self.isScript = isScript
        self.mayCommit = mayCommit
        self.timeout = timeout
    }

    /// Sees to it that the continuation hears the outcome, also when that is there already: the loop may
    /// run other work between sending and waiting.
    func await(_ continuation: CheckedContinuation<Outcome, Never>) {
        if let early {
            continuation.resume(returning: early)
        } else {
            self.continuation = continuation
        }
    }

    /// Tells the caller, once.
    func end(_ outcome: Outcome) {
        if let continuation {
            self.continuation = nil
            continuation.resume(returning: outcome)
        } else if early == nil {
            early = outcome
        }
    }

    /// The statement whose result comes next.
    var statement: String? {
        guard position < steps.count else { return nil }
        return switch steps[position] {
        case .prepare(_, let statement), .execute(let statement): statement
        }
    }

    /// What the caller hears when all results are there.
    func outcome(statementTimeout: Duration) -> Outcome {
        guard var error else { return .success(results) }
        guard error.kind == .cancelled else { return .failure(error) }
        let served = ContinuousClock.now - start
        let wasServer = statementTimeout > .zero && served >= statementTimeout
        switch wish {
        case .timeout: error.kind = .timedOut
        case .cancellation: error.kind = .cancelled
        case .none: error.kind = wasServer ? .timedOut : .cancelled
        }
        if wish == .timeout { error.message = "its timeout is \(timeout)" }
        return .failure(error)
    }

    /// What the caller hears when the connection breaks first.
    func failure(_ reason: PostgresError) -> PostgresError {
        var failure = reason
        failure.statement = statement ?? steps.last.map { _ in "sync" }
        if let error {
            // The server said so before it hung up: nothing was committed.
            failure.message = error.message
            failure.sqlState = error.sqlState
        } else {
            failure.outcomeUnknown = mayCommit
        }
        switch wish {
        case .none: break
        case .timeout: failure.kind = .timedOut
        case .cancellation: failure.kind = .cancelled
        }
        return failure
    }
}
