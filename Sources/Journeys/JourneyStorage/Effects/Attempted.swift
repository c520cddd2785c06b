internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import Postgres
internal import TimeZones

/// An attempt that is over, told from a lease or from a leased row that cannot be read.
struct Attempted {
    /// What a lease is known by: enough to end it.
    struct Held {
        var customer: Int64
        let invocation: String
        let fence: Int64
        let startedAt: Instant

        init(_ lease: LeasedEffect) {
            customer = lease.customer.number
            invocation = lease.request.invocation.text
            fence = lease.fence
            startedAt = lease.startedAt
        }

        init(_ row: PostgresRow) throws(PostgresError) {
            customer = try row.int64("customer")
            invocation = try row.string("invocation")
            fence = try row.int64("fence")
            startedAt = try row.instant("started_at")
        }
    }

    var held: Held
    let outcome: String
    let isAmbiguous: Bool
    let excerpt: [UInt8]
    let next: FinishedAttempt.Next

    private init(_ held: Held, outcome: String, next: FinishedAttempt.Next) {
        self.held = held
        self.outcome = outcome
        isAmbiguous = false
        excerpt = []
        self.next = next
    }

    init(_ attempt: FinishedAttempt) {
        held = Held(attempt.lease)
        outcome = attempt.outcome
        isAmbiguous = attempt.isAmbiguous
        excerpt = attempt.excerpt
        next = attempt.next
    }

    /// Nothing was sent, and nothing ever will be: no attempt can read what the row asks for.
    static func unreadable(_ held: Held, _ sentence: String) -> Self {
        let word = "unreadable"
        let detail = JSONValue.string(String(sentence.prefix(2_000)))
        return Self(held, outcome: word, next: .end(.failed(error: word, detail: detail)))
    }
}
