package import JourneyEngine
internal import JourneyModel
package import TimeZones

/// A run with everything that says why it is where it is.
package struct RunView: Sendable, Hashable {
    package var summary: RunSummary
    package var run: Run
    package var effects: [EffectView]
    package var standing: CustomerStanding
    /// Where the effect stands that the run waits for; nil when it waits for none.
    package var queue: QueueStanding?
    /// The worker's processes, those that are there first.
    package var processes: [WorkerProcess]
    /// The database's time of the look.
    package var now: Instant
    /// When the window opens that the effect's attempts keep to; to be set by who has the rules of zones,
    /// nil where it is open or there is none.
    package var windowOpensAt: Instant?

    /// What an effect meets in the queue.
    package struct QueueStanding: Sendable, Hashable {
        /// Attempts of its account under way, over all processes.
        package var accountUnderWay: Int
        /// Attempts under way in all.
        package var underWay: Int
        /// Effects of its account that are due before it; at most 10,000.
        package var ahead: Int
        /// From when the account's rate counts; nil for an account that was never used.
        package var rateFrom: Instant?
        /// The word of its last attempt that ended.
        package var lastOutcome: String?
    }

    /// Why the run does not move at this moment, the foremost reason first.
    package enum Hold: Sendable, Hashable {
        case ended(status: String, reason: String?)
        /// It failed with this effect, which can be attempted again.
        case deadEffect(EffectView)
        /// Nobody knows whether this effect arrived, and nobody has settled it.
        case unsettled(EffectView)
        /// The customer's turns fail; no more are tried until an operator acts.
        case stuck(error: String)
        /// The customer's last turn failed.
        case retrying(error: String, at: Instant)
        /// No process takes turns.
        case noWorker(seen: Instant?, turn: Instant?)
        /// Every process that takes turns is kept from it.
        case turnTrouble(String)
        /// Inputs wait for the customer's next turn.
        case unreadInputs(count: Int, since: Instant, ahead: Int)
        /// A timer is due and was not taken.
        case overdue(since: Instant)
        /// No process makes attempts.
        case noDispatcher(seen: Instant?)
        /// Every dispatcher was started to hold effects back.
        case held
        /// No dispatcher serves the effect's account.
        case noAccount(EffectView)
        /// Every dispatcher that serves the account is kept from its work.
        case dispatchTrouble(String)
        /// As many attempts of the account are under way as it allows.
        case accountBusy(EffectView, concurrency: Int)
        /// As many attempts are under way as the dispatchers make at once.
        case dispatchBusy(concurrency: Int)
        /// The account's rate allows the next attempt then.
        case accountRate(EffectView, perSecond: Double, next: Instant, ahead: Int)
        /// Effects of the same account are due before it.
        case behind(EffectView, ahead: Int)
        /// No attempt starts before the window opens.
        case window(EffectView, opens: Instant)
        case effect(EffectView, lastOutcome: String?)
        case timer(due: Instant)
        case events(until: Instant)
        /// Nothing that is stored would ever move it: a fault, told in a sentence.
        case nothing(String)
    }

    /// When something happens next without an input: never before a window opens that an attempt waits
    /// for.
    package var nextWake: Instant? {
        guard let opens = windowOpensAt, summary.endedAt == nil else { return summary.nextWake }
        return [summary.wakeAt, opens].compactMap(\.self).min()
    }

    /// The effect that the run waits for.
    package var awaited: EffectView? {
        guard case .effect(let invocation, requestedOrdinal: _)? = run.position?.waiting else {
            return nil
        }
        return effects.first { $0.invocation == invocation }
    }
}
