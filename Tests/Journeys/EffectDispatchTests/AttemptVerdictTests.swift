import JSON
import JourneyEngine
import Testing
import WorkflowDefinitions

@testable import EffectDispatch

/// What follows an attempt: outcome × number × policy × idempotent, and how long a wait is.
@Suite struct AttemptVerdictTests {
    static let policy = RetryPolicy(
        attempts: 3, backoff: .seconds(2), longest: .seconds(60), jitter: false)

    static let causes: [(String, RetryPolicy.Cause)] = [
        ("timeout", .timeout), ("network", .network), ("http_429", .tooManyRequests),
        ("http_500", .serverError),
    ]

    private func verdict(
        _ outcome: AttemptOutcome, attempt: Int = 1, policy: RetryPolicy = policy,
        isIdempotent: Bool = true, jitter: Double = 1
    ) -> AttemptVerdict {
        AttemptVerdict.after(
            outcome, attempt: attempt, policy: policy, isIdempotent: isIdempotent, jitter: jitter)
    }

    @Test(arguments: [1, 3, 20], [true, false])
    func `a success ends the effect, whatever the number`(attempt: Int, isIdempotent: Bool) {
        #expect(
            verdict(.succeeded(["a": 1]), attempt: attempt, isIdempotent: isIdempotent)
                == .end(.succeeded(["a": 1])))
    }

    // S13.5
    @Test(arguments: causes, [true, false])
    func `a certain failure with a listed cause is repeated until attempts are used up`(
        cause: (String, RetryPolicy.Cause), isIdempotent: Bool
    ) {
        let failure = AttemptFailure(error: cause.0, detail: "d", retryCause: cause.1)
        for attempt in 1...5 {
            let verdict = verdict(.failed(failure), attempt: attempt, isIdempotent: isIdempotent)
            if attempt < 3 {
                #expect(verdict == .repeatAfter(.seconds(attempt == 1 ? 2 : 4)))
            } else if cause.1 == .timeout {
                #expect(verdict == .end(.timedOut))
            } else {
                #expect(verdict == .end(.failed(error: cause.0, detail: "d")))
            }
        }
    }

    @Test func `a failure without a cause is never repeated`() {
        let failure = AttemptFailure(error: "http_404", detail: "gone")
        #expect(verdict(.failed(failure)) == .end(.failed(error: "http_404", detail: "gone")))
    }

    @Test(arguments: causes)
    func `a cause that the policy does not list ends the effect`(
        cause: (String, RetryPolicy.Cause)
    ) {
        var policy = Self.policy
        policy.causes = RetryPolicy.Cause.allCases.filter { $0 != cause.1 }
        let failure = AttemptFailure(error: cause.0, retryCause: cause.1)
        let end: AttemptVerdict =
            cause.1 == .timeout
            ? .end(.timedOut) : .end(.failed(error: cause.0, detail: .null))
        #expect(verdict(.failed(failure), policy: policy) == end)
    }

    // S13.4
    @Test(arguments: causes, 1...4)
    func `an ambiguous attempt is repeated only where the receiver honours the key`(
        cause: (String, RetryPolicy.Cause), attempt: Int
    ) {
        let failure = AttemptFailure(error: cause.0, retryCause: cause.1)
        #expect(
            verdict(.ambiguous(failure), attempt: attempt, isIdempotent: false) == .end(.unknown))
        let repeated = verdict(.ambiguous(failure), attempt: attempt)
        #expect(repeated == verdict(.failed(failure), attempt: attempt))
    }

    @Test func `a wait grows by the factor, stops at the longest, and jitter only shortens it`() {
        var policy = RetryPolicy(
            attempts: 20, backoff: .seconds(1), longest: .seconds(100), jitter: false)
        let seconds = [1, 2, 4, 8, 16, 32, 64, 100, 100]
        for (index, expected) in seconds.enumerated() {
            #expect(policy.wait(after: index + 1, jitter: 0) == .seconds(expected))
        }
        #expect(policy.wait(after: 0, jitter: 0) == .seconds(1))
        #expect(policy.wait(after: 1_000_000, jitter: 0) == .seconds(100))
        policy.jitter = true
        for attempt in 1...20 {
            let least = policy.wait(after: attempt, jitter: 0)
            let most = policy.wait(after: attempt, jitter: 1)
            #expect(least == most / 2)
            #expect(most <= .seconds(100))
            // A draw outside its range changes nothing.
            #expect(policy.wait(after: attempt, jitter: -5) == least)
            #expect(policy.wait(after: attempt, jitter: 7) == most)
        }
    }

    @Test func `a factor of one never grows, and one and a half is kept exactly`() {
        var policy = RetryPolicy(backoff: .seconds(2), factor: JSONNumber(1), jitter: false)
        #expect(policy.wait(after: 19, jitter: 1) == .seconds(2))
        policy.factor = JSONNumber(literal: "1.5") ?? JSONNumber(0)
        #expect(policy.wait(after: 3, jitter: 1) == .milliseconds(4_500))
    }

    @Test func `Retry-After lengthens a wait and never shortens it`() {
        func after(_ wait: Duration) -> AttemptVerdict {
            verdict(
                .failed(
                    AttemptFailure(
                        error: "http_429", retryCause: .tooManyRequests, retryAfter: wait)))
        }
        #expect(after(.seconds(30)) == .repeatAfter(.seconds(30)))
        // The policy's longest wait bounds it too.
        #expect(after(.seconds(120)) == .repeatAfter(.seconds(60)))
        #expect(after(.seconds(1)) == .repeatAfter(.seconds(2)))
        #expect(after(.zero) == .repeatAfter(.seconds(2)))
    }
}
