import EffectDispatch
import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import TestModel
import TimeZones
import WorkflowDefinitions

// The dispatchers: lease, call, hand in.
extension SimulatedWorld {
    /// The margin that a lease lasts beyond its attempt.
    private static let leaseMargin = Duration.seconds(30)

    private func isIdempotent(_ request: EffectRequest) -> Bool {
        request.account != "once" || fault == .ambiguousIsRepeated
    }

    /// Judges one due effect as the leasing statement does; false when none is due.
    @discardableResult
    mutating func lease(_ worker: Int) -> Bool {
        let due = queue.values.filter { $0.dueAt <= now }
            .sorted { ($0.dueAt, $0.request.invocation) < ($1.dueAt, $1.request.invocation) }
        guard var row = due.first else { return false }
        let invocation = row.request.invocation
        let isLost = row.leaseUntil != nil
        let run = models[row.customer]?.runs[row.request.run]
        let hasUnread = inbox.values.contains { $0.isVisible && $0.customer == row.customer }
        let mayRepeat =
            !isLost || isIdempotent(row.request) && row.request.retry.attempts > row.attempts
        if row.isWithdrawn || run?.status.isLive != true {
            queue[invocation] = nil
            withdrawn.insert(invocation)
        } else if row.request.deadline <= now {
            end(row, isLost ? .unknown : .expired)
        } else if hasUnread {
            queue[invocation]?.dueAt = now + .milliseconds(50)
        } else if !mayRepeat {
            end(row, .unknown)
        } else {
            row.fence += 1
            row.attempts += 1
            row.leaseUntil = now + row.request.attemptTimeout + Self.leaseMargin
            row.dueAt = now + row.request.attemptTimeout + Self.leaseMargin
            queue[invocation] = row
            workers[worker].attempts.append(SimulatedWorker.Attempt(lease: row))
        }
        return true
    }

    private mutating func end(_ row: QueueRow, _ outcome: EffectOutcome) {
        queue[row.request.invocation] = nil
        insertResult(row.request, of: row.customer, outcome)
    }

    /// Calls the receiver, or hands in what came of it.
    @discardableResult
    mutating func advanceAttempt(_ worker: Int) -> Bool {
        guard let place = workers[worker].attempts.indices.randomElement(using: &random) else {
            return false
        }
        let attempt = workers[worker].attempts[place]
        guard let outcome = attempt.outcome else {
            workers[worker].attempts[place].outcome = call(attempt.lease.request)
            return true
        }
        workers[worker].attempts.remove(at: place)
        finish(attempt.lease, outcome)
        return true
    }

    private mutating func call(_ request: EffectRequest) -> AttemptOutcome {
        guard request.tool == .http else { return .succeeded(.object(JSONObject())) }
        let behaviour: SimulatedCall.Behaviour
        switch Int.random(in: 0..<100, using: &random) {
        case ..<30: behaviour = isCalm ? .answered : .failed
        case ..<35: behaviour = isCalm ? .answered : .hung
        case ..<45: behaviour = isCalm ? .answered : .dropped
        default: behaviour = .answered
        }
        calls[request.invocation, default: []].append(
            SimulatedCall(behaviour: behaviour, account: request.account ?? ""))
        switch behaviour {
        case .answered: return .succeeded(["status": 200])
        case .failed: return .failed(AttemptFailure(error: "http_500", retryCause: .serverError))
        case .hung: return .ambiguous(AttemptFailure(error: "timeout", retryCause: .timeout))
        case .dropped: return .ambiguous(AttemptFailure(error: "network", retryCause: .network))
        }
    }

    /// A fence that is no longer in force changes nothing.
    private mutating func finish(_ lease: QueueRow, _ outcome: AttemptOutcome) {
        let request = lease.request
        let verdict = AttemptVerdict.after(
            outcome, attempt: lease.attempts, policy: request.retry,
            isIdempotent: isIdempotent(request), jitter: 0.5)
        guard let row = queue[request.invocation], row.fence == lease.fence, row.leaseUntil != nil
        else { return }
        switch verdict {
        case .end(let outcome): end(row, outcome)
        case .repeatAfter where row.isWithdrawn, .handBack where row.isWithdrawn:
            queue[request.invocation] = nil
            withdrawn.insert(request.invocation)
        case .repeatAfter(let pause):
            queue[request.invocation]?.leaseUntil = nil
            queue[request.invocation]?.dueAt = min(now + pause, request.deadline)
        case .handBack:
            queue[request.invocation]?.leaseUntil = nil
            queue[request.invocation]?.attempts -= 1
            queue[request.invocation]?.dueAt = now
        }
    }
}
