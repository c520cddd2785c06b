internal import JSON
package import JourneyEngine
package import WorkflowDefinitions

/// What follows an attempt: the effect's end, or another attempt after a while.
package enum AttemptVerdict: Sendable, Hashable {
    case end(EffectOutcome)
    case repeatAfter(Duration)
    /// Nothing was sent: as if it had never been leased.
    case handBack

    /// Decides by the retry policy and by whether the receiver honours the idempotency key (S13).
    ///
    /// - Parameters:
    ///   - attempt: number of the attempt that ended, from 1.
    ///   - isIdempotent: whether an ambiguous attempt may be repeated.
    ///   - jitter: from 0 to 1; a wait with jitter is that share between half and all of its length.
    package static func after(
        _ outcome: AttemptOutcome, attempt: Int, policy: RetryPolicy, isIdempotent: Bool,
        jitter: Double
    ) -> AttemptVerdict {
        let failure: AttemptFailure
        switch outcome {
        case .succeeded(let result): return .end(.succeeded(result))
        case .ambiguous(let ambiguous):
            guard isIdempotent else { return .end(.unknown) }
            failure = ambiguous
        case .failed(let certain): failure = certain
        case .notMade: return .handBack
        }
        if failure.isOwnDoing { return .repeatAfter(.zero) }
        if let cause = failure.retryCause, policy.causes.contains(cause),
            attempt < policy.attempts
        {
            let wait = policy.wait(after: attempt, jitter: jitter)
            return .repeatAfter(min(max(wait, failure.retryAfter ?? .zero), policy.longest))
        }
        if failure.retryCause == .timeout { return .end(.timedOut) }
        return .end(.failed(error: failure.error, detail: failure.detail))
    }
}

extension RetryPolicy {
    /// The wait after so many attempts: the backoff times the factor for each further one, at most the
    /// longest.
    package func wait(after attempt: Int, jitter: Double) -> Duration {
        var wait = backoff
        for _ in 1..<max(attempt, 1) where wait < longest { wait = wait * factor.double }
        wait = min(wait, longest)
        return self.jitter ? wait * (0.5 + 0.5 * min(max(jitter, 0), 1)) : wait
    }
}
