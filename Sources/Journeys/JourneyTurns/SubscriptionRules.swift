internal import JSON
internal import JourneyModel
internal import TimeZones

/// Which fields of `/subscription` each outcome sets: the table of S5.
enum SubscriptionRules {
    /// Set by every outcome that touches a subscription, when the event carries them.
    private static let carried = ["product_id", "period_type", "expires_at", "store"]

    /// In no order; a name stands once.
    static func fields(setBy event: Event) -> [(name: String, value: JSONValue)] {
        var fields: [(name: String, value: JSONValue)] = []
        for name in carried {
            if let value = event.properties[name] { fields.append((name, value)) }
        }
        func set(_ name: String, _ value: JSONValue?) {
            if let value { fields.append((name, value)) }
        }
        switch event.name {
        case "trial.started":
            set("status", "trialing")
            set("will_renew", true)
            set("grace_period_expires_at", .null)
            set("price", event.properties["price"])
        case "subscription.started", "subscription.resubscribed", "subscription.renewed",
            "subscription.recovered", "subscription.resumed", "trial.converted":
            set("status", "active")
            set("will_renew", true)
            set("grace_period_expires_at", .null)
            set("pending_product_id", .null)
            set("price", event.properties["price"])
        case "subscription.billing_issue", "subscription.grace_period_started",
            "subscription.on_hold":
            set("status", failures[event.name])
            set("grace_period_expires_at", event.properties["grace_period_expires_at"])
        case "trial.cancelled", "subscription.cancelled": set("will_renew", false)
        case "trial.uncancelled", "subscription.uncancelled": set("will_renew", true)
        case "subscription.pause_scheduled":
            set("pauses_at", event.properties["pauses_at"] ?? event.properties["expires_at"])
        case "subscription.paused": set("status", "paused")
        case "trial.expired", "subscription.expired":
            set("status", "expired")
            set("will_renew", false)
        case "subscription.product_changed", "subscription.product_change_scheduled":
            set("pending_product_id", event.properties["new_product_id"])
        case "subscription.product_change_cancelled": set("pending_product_id", .null)
        case "subscription.refunded": set("refunded_at", .string(event.occurredAt.description))
        case "subscription.refund_reversed": set("refunded_at", .null)
        case "subscription.revoked": set("status", "revoked")
        case Event.subscriptionImported:
            for name in Event.importedFields where !carried.contains(name) {
                set(name, event.properties[name])
            }
        default: break
        }
        return fields
    }

    private static let failures: [String: JSONValue] = [
        "subscription.billing_issue": "billing_issue",
        "subscription.grace_period_started": "grace_period",
        "subscription.on_hold": "on_hold",
    ]
}
