/// The neutral outcomes that every provider's webhooks are told in.
package enum Vocabulary {
    /// The type of a property, for checking pointers and operands before anything runs.
    package enum PropertyType: String, Sendable, Hashable {
        case string, number, boolean, instant, money, array, object
    }

    /// One outcome of the vocabulary.
    package struct Outcome: Sendable, Hashable {
        package let name: String
        /// One line for people, as `validate` and hovers show it.
        package let meaning: String
    }

    /// Prefixes whose event names must stand in ``outcomes``; the app's own events use others.
    package static let namespaces = [
        "purchase.", "trial.", "subscription.", "customer.", "invoice.", "paywall.", "credits.",
        "access.", "connector.", "experiment.",
    ]

    /// Whether a name lies in a namespace of the vocabulary.
    package static func owns(_ name: String) -> Bool {
        namespaces.contains { name.hasPrefix($0) }
    }

    /// The outcome of that name; nil for a name that the vocabulary does not have.
    package static func outcome(named name: String) -> Outcome? { byName[name] }

    private static let byName = Dictionary(
        outcomes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })

    /// Properties that any outcome may carry, as connectors fill them.
    package static let properties: [(name: String, type: PropertyType)] = [
        ("store", .string), ("product_id", .string), ("new_product_id", .string),
        ("period_type", .string), ("transaction_id", .string),
        ("original_transaction_id", .string), ("subscription_key", .string),
        ("expires_at", .instant), ("grace_period_expires_at", .instant), ("price", .money),
        ("price_usd", .money), ("is_family_share", .boolean), ("reason", .string),
        ("role", .string), ("raw", .object), ("meta", .object),
    ]

    package static let outcomes: [Outcome] = [
        Outcome(name: "purchase.started", meaning: "the buyer opened a checkout; no money yet"),
        Outcome(name: "purchase.completed", meaning: "a one-off purchase or a checkout was paid"),
        Outcome(name: "purchase.pending", meaning: "the purchase waits for payment or approval"),
        Outcome(name: "purchase.failed", meaning: "the payment of a purchase failed"),
        Outcome(name: "purchase.cancelled", meaning: "the buyer gave up, or the purchase lapsed"),
        Outcome(name: "purchase.restored", meaning: "earlier purchases were restored in the app"),
        Outcome(name: "purchase.refunded", meaning: "a one-off purchase was refunded"),
        Outcome(name: "purchase.refund_reversed", meaning: "that refund was taken back"),
        Outcome(name: "purchase.disputed", meaning: "a chargeback or dispute was opened"),
        Outcome(name: "trial.started", meaning: "a free trial began"),
        Outcome(name: "trial.converted", meaning: "a trial became paid"),
        Outcome(name: "trial.cancelled", meaning: "renewal was turned off during the trial"),
        Outcome(name: "trial.uncancelled", meaning: "renewal was turned on again in the trial"),
        Outcome(name: "trial.expired", meaning: "a trial ended unpaid"),
        Outcome(name: "trial.ending_soon", meaning: "the provider announced the trial's end"),
        Outcome(name: "subscription.started", meaning: "the first paid period began"),
        Outcome(name: "subscription.renewed", meaning: "the next period was paid"),
        Outcome(name: "subscription.resubscribed", meaning: "the customer came back after a lapse"),
        Outcome(name: "subscription.cancelled", meaning: "it will not renew; the period runs on"),
        Outcome(name: "subscription.uncancelled", meaning: "renewal was turned on again in time"),
        Outcome(name: "subscription.expired", meaning: "the period is over without renewal"),
        Outcome(name: "subscription.billing_issue", meaning: "a charge failed; it is retried"),
        Outcome(
            name: "subscription.grace_period_started",
            meaning: "a charge failed; the store keeps access for a while"),
        Outcome(name: "subscription.on_hold", meaning: "the charge is retried without access"),
        Outcome(name: "subscription.recovered", meaning: "a charge succeeded after a failure"),
        Outcome(name: "subscription.pause_scheduled", meaning: "it will pause at the period's end"),
        Outcome(name: "subscription.paused", meaning: "it is paused"),
        Outcome(name: "subscription.resumed", meaning: "the pause ended"),
        Outcome(name: "subscription.product_changed", meaning: "another product was chosen"),
        Outcome(
            name: "subscription.product_change_scheduled",
            meaning: "another product from the next period on"),
        Outcome(
            name: "subscription.product_change_cancelled",
            meaning: "the scheduled change was withdrawn"),
        Outcome(name: "subscription.extended", meaning: "the period's end was moved later"),
        Outcome(name: "subscription.refunded", meaning: "a subscription period was refunded"),
        Outcome(name: "subscription.refund_reversed", meaning: "that refund was taken back"),
        Outcome(name: "subscription.revoked", meaning: "it was taken away at once"),
        Outcome(
            name: "subscription.price_increase_pending", meaning: "consent to a price is asked"),
        Outcome(name: "subscription.price_increase_accepted", meaning: "consent was given"),
        Outcome(name: "customer.transferred", meaning: "purchases moved between customers"),
        Outcome(name: "customer.aliased", meaning: "two ids are one customer"),
        Outcome(name: "customer.redeemed", meaning: "a web purchase was claimed in the app"),
        Outcome(name: "credits.adjusted", meaning: "the provider's virtual currency changed"),
        Outcome(name: "invoice.issued", meaning: "an invoice was created or finalised"),
        Outcome(name: "invoice.paid", meaning: "an invoice was paid; by itself no renewal"),
        Outcome(name: "invoice.action_required", meaning: "the buyer must act, as for 3-D Secure"),
        Outcome(name: "experiment.enrolled", meaning: "the provider put them into an experiment"),
        Outcome(name: "paywall.impression", meaning: "a paywall was shown"),
        Outcome(name: "paywall.closed", meaning: "a paywall was closed"),
        Outcome(name: "paywall.cancelled", meaning: "the purchase sheet was cancelled"),
        Outcome(name: "paywall.exit_offer", meaning: "an exit offer was shown"),
        Outcome(name: "paywall.interacted", meaning: "a part of a paywall was tapped"),
        Outcome(name: "paywall.other", meaning: "another paywall event"),
        Outcome(
            name: "access.temporary",
            meaning: "the provider granted short access; ours never changes by it"),
        Outcome(name: "connector.test", meaning: "a test delivery; starts nothing"),
        Outcome(name: "connector.handshake", meaning: "the provider verified the endpoint"),
        Outcome(name: "connector.ignored", meaning: "a known type without an outcome of its own"),
        Outcome(name: "connector.unknown", meaning: "an unknown type, stored without effect"),
        Outcome(
            name: "connector.unreadable",
            meaning: "a delivery that no mapping could read, with its reason"),
    ]
}
