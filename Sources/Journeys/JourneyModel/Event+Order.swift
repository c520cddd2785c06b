extension Event {
    /// Whether `other` is the later of two facts by (occurred_at, rank of outcome, event id) (S5).
    package func comesBefore(_ other: Event) -> Bool {
        if occurredAt != other.occurredAt { return occurredAt < other.occurredAt }
        let (rank, otherRank) = (Vocabulary.rank(of: name), Vocabulary.rank(of: other.name))
        if rank != otherRank { return rank < otherRank }
        return id.text.utf8.lexicographicallyPrecedes(other.id.text.utf8)
    }
}

extension Vocabulary {
    /// Where an outcome stands among others of the same instant (S5); 0 for events that touch no
    /// subscription.
    package static func rank(of name: String) -> Int { ranks[name] ?? 0 }

    private static let ranks: [String: Int] = [
        "trial.started": 10, "subscription.started": 10,
        "subscription.product_changed": 20, "subscription.product_change_scheduled": 20,
        "subscription.product_change_cancelled": 20, "subscription.extended": 20,
        "subscription.price_increase_pending": 20, "subscription.price_increase_accepted": 20,
        "trial.ending_soon": 20,
        "subscription.billing_issue": 30, "subscription.grace_period_started": 40,
        "subscription.on_hold": 50, "trial.cancelled": 60, "subscription.cancelled": 60,
        "subscription.pause_scheduled": 65, "subscription.paused": 70,
        "trial.expired": 75, "subscription.expired": 75,
        "trial.uncancelled": 80, "subscription.uncancelled": 80,
        "subscription.renewed": 85, "subscription.recovered": 85, "trial.converted": 85,
        "subscription.resubscribed": 85, "subscription.resumed": 85,
        "subscription.refunded": 90, "subscription.refund_reversed": 92,
        "subscription.revoked": 95,
    ]
}
