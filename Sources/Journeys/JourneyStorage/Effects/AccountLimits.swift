/// Bounds of one account that hold over all dispatchers of a database.
package struct AccountLimits: Sendable, Hashable {
    /// What an account that carries messages to people keeps to.
    package struct Messages: Sendable, Hashable {
        /// What a customer's `unsubscribed` names; `[a-z0-9_-]`.
        package var channel: String
        /// Most messages to one customer over this account, and within how long; nil for no bound.
        package var cap: Cap?

        package init(channel: String, cap: Cap? = nil) {
            self.channel = channel
            self.cap = cap
        }
    }

    /// So many messages within so long.
    package struct Cap: Sendable, Hashable {
        package var messages: Int
        package var period: Duration

        package init(messages: Int, period: Duration) {
            self.messages = messages
            self.period = period
        }
    }

    /// Attempts at once, from 1.
    package var concurrency: Int
    /// Attempts that may start in a second; nil for no bound.
    package var ratePerSecond: Double?
    /// Whether the receiver honours the idempotency key, so that an attempt of unknown outcome may be
    /// repeated (S13).
    package var isIdempotent: Bool
    /// Nil for an account whose actions are no messages.
    package var messages: Messages?

    package init(
        concurrency: Int, ratePerSecond: Double? = nil, isIdempotent: Bool = true,
        messages: Messages? = nil
    ) {
        precondition(concurrency > 0, "an account that may make no attempt")
        self.concurrency = concurrency
        self.isIdempotent = isIdempotent
        self.ratePerSecond = ratePerSecond
        self.messages = messages
    }

    /// Microseconds from one attempt to the next; nil without a rate.
    var pace: Int64? { ratePerSecond.map { max(1, Int64(1_000_000 / $0)) } }

    /// How many microseconds of its rate an idle account may spend at once: a twentieth of a second's
    /// worth, and always one attempt.
    var burst: Int64? { pace.map { max(50_000, $0) } }

    /// What the rate allows, and when it allows more where that is nothing.
    ///
    /// - Parameter idle: how long the account's rate has gone unspent, in microseconds; below zero when
    ///   it was spent ahead.
    func allowance(idle: Int64) -> (attempts: Int, more: Duration) {
        guard let pace, let burst else { return (.max, .zero) }
        let worth = min(idle, burst)
        return (Int(max(0, worth / pace)), .microseconds(max(0, pace - worth)))
    }
}
