package import JSON
package import WorkflowDefinitions

/// How one attempt of an effect ended.
package enum AttemptOutcome: Sendable, Hashable {
    /// Done, with the tool's result.
    case succeeded(JSONValue)
    /// Not done, for certain.
    case failed(AttemptFailure)
    /// Perhaps done: the request may have arrived, the answer did not (S13).
    case ambiguous(AttemptFailure)
    /// No attempt was made, for a reason of this process: the lease goes back and counts for nothing.
    case notMade(AttemptFailure)

    /// The word stored with the attempt.
    package var word: String {
        switch self {
        case .succeeded: "succeeded"
        case .failed(let failure), .ambiguous(let failure), .notMade(let failure): failure.error
        }
    }

    package var isAmbiguous: Bool { if case .ambiguous = self { true } else { false } }
}

/// Why an attempt is not a success.
package struct AttemptFailure: Sendable, Hashable {
    /// A word such as `http_404`, `timeout`, `network`, `destination_refused`.
    package var error: String
    /// What a person needs to see; at most 4 KB of an answer's body.
    package var detail: JSONValue
    /// What makes it worth another attempt, where the retry policy lists it; nil when nothing would change.
    package var retryCause: RetryPolicy.Cause?
    /// The receiver's `Retry-After`.
    package var retryAfter: Duration?
    /// Whether this process broke the attempt off, as at shutdown: that is not the receiver's fault, and
    /// uses up no attempt.
    package var isOwnDoing = false

    package init(
        error: String, detail: JSONValue = .null, retryCause: RetryPolicy.Cause? = nil,
        retryAfter: Duration? = nil
    ) {
        self.error = error
        self.detail = detail
        self.retryCause = retryCause
        self.retryAfter = retryAfter
    }
}
