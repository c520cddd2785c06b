import Crypto
import FoundationEssentials
import JSON
import TestMaterial
import TestSupport
import Testing

/// Bodies of the bug cases.
struct BugBodies: Sendable {
    let folder: String

    init(folder: String) throws {
        self.folder = folder
    }

    func json(_ name: String) throws -> JSONValue {
        try JSONParser.parse(try bytes(name), options: .webhook)
    }

    func bytes(_ name: String) throws -> [UInt8] {
        guard let bytes = Conformance.bytes(of: "\(folder)/\(name)") else {
            throw World.Failure(what: name)
        }
        return bytes
    }

    static func write(_ bytes: [UInt8], to path: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    /// A fixture with changes at pointers; one that the collection leaves out is made from another one.
    func body(_ fixture: String, _ changes: [(String, JSONValue)] = []) throws -> [UInt8] {
        if changes.isEmpty, let bytes = Conformance.bytes(of: "\(folder)/fixtures/\(fixture)") {
            return bytes
        }
        return changes.reduce(try value(fixture)) { $0.replaced($1.0, $1.1) }.bytes
    }

    private func value(_ fixture: String) throws -> JSONValue {
        if let bytes = Conformance.bytes(of: "\(folder)/fixtures/\(fixture)") {
            return try JSONParser.parse(bytes)
        }
        guard let (base, changes) = Self.substitutes[fixture] else {
            throw World.Failure(what: "no fixture and no substitute for \(fixture)")
        }
        let start: JSONValue = base.isEmpty ? [:] : try value(base)
        return changes.reduce(start) { $0.replaced($1.0, $1.1) }
    }

    private static let anonymous: JSONValue = "$RCAnonymousID:87c6049c58069238dce29853916d624c"

    private static let substitutes: [String: (String, [(String, JSONValue)])] = [
        "stripe/basil/invoice.paid.json": (
            "stripe/basil/invoice.payment_failed.json",
            [("/type", "invoice.paid"), ("/data/object/billing_reason", "subscription_create")]
        ),
        "stripe/basil/invoice.paid.renewal.json": (
            "stripe/basil/invoice.payment_failed.json",
            [("/type", "invoice.paid"), ("/id", "evt_r")]
        ),
        "stripe/basil/checkout.session.completed.unpaid_async.json": (
            "stripe/basil/checkout.session.completed.subscription.json",
            [("/data/object/payment_status", "unpaid"), ("/id", "evt_u")]
        ),
        "stripe/basil/checkout.session.async_payment_succeeded.json": (
            "stripe/basil/checkout.session.async_payment_failed.json",
            [("/type", "checkout.session.async_payment_succeeded"), ("/id", "evt_s")]
        ),
        "lemonsqueezy/subscription_created.json": (
            "lemonsqueezy/subscription_created_on_trial.json",
            [("/data/attributes/status", "active")]
        ),
        "revenuecat/initial_purchase_anonymous_only.json": (
            "revenuecat/initial_purchase.json",
            [
                ("/event/id", "e-anonymous"), ("/event/app_user_id", anonymous),
                ("/event/original_app_user_id", anonymous), ("/event/aliases", [anonymous]),
            ]
        ),
        "revenuecat/renewal_trial_conversion.json": (
            "revenuecat/renewal.json",
            [
                ("/event/id", "e-converted"), ("/event/is_trial_conversion", true),
                ("/event/app_user_id", "user_1001"), ("/event/original_app_user_id", anonymous),
                ("/event/aliases", [anonymous, "user_1001"]),
            ]
        ),
        "revenuecat/unknown_type.json": (
            "revenuecat/renewal.json", [("/event/id", "e-new"), ("/event/type", "BRAND_NEW_TYPE")]
        ),
        "revenuecat/paywall_custom_name.json": (
            "revenuecat/paywall_close.json",
            [("/event/id", "e-own"), ("/event/type", "our_paywall_went_away")]
        ),
        "revenuecat/paywall_custom_name_collides_with_transfer.json": (
            "revenuecat/paywall_close.json",
            [("/event/id", "e-collides"), ("/event/type", "TRANSFER")]
        ),
        "revenuecat/experiment_enrollment.json": (
            "",
            [
                (
                    "/event",
                    [
                        "id": "e-experiment", "type": "EXPERIMENT_ENROLLMENT",
                        "event_timestamp_ms": 1_767_225_600_000, "app_user_id": "user_1001",
                        "experiment_id": "x",
                    ]
                )
            ]
        ),
        "revenuecat/cancellation_refund.json": (
            "revenuecat/cancellation_unsubscribe.json",
            [("/event/id", "e-refund"), ("/event/cancel_reason", "CUSTOMER_SUPPORT")]
        ),
        "revenuecat/expiration_subscription_paused.json": (
            "revenuecat/expiration_billing_error.json",
            [("/event/id", "e-paused"), ("/event/expiration_reason", "SUBSCRIPTION_PAUSED")]
        ),
        "revenuecat/expiration.json": (
            "revenuecat/expiration_billing_error.json", [("/event/id", "e-expired")]
        ),
        "revenuecat/test.json": (
            "revenuecat/renewal.json", [("/event/id", "e-test"), ("/event/type", "TEST")]
        ),
        "revenuecat/malformed/timestamp_negative.json": (
            "", [("/event", ["id": "x", "type": "TEST", "event_timestamp_ms": -1])]
        ),
        "revenuecat/malformed/no_event.json": ("", []),
        "revenuecat/malformed/type_missing.json": ("", [("/event", ["id": "e-typeless"])]),
        "superwall/renewal_alias_only.json": ("superwall/renewal.json", []),
        "superwall/non_renewing_refund.json": (
            "superwall/non_renewing_purchase_empty_user.json",
            [("/data/id", "r:non_renewing_purchase"), ("/data/price", .number(price("-9.99")))]
        ),
        "superwall/malformed_revenuecat_like_flat.json": (
            "", [("/event_type", "transaction_complete"), ("/app_user_id", "user_1001")]
        ),
        "google/subscription_02_renewed.json": (
            "google/subscription_01_recovered.json",
            [
                ("/message/messageId", "m-2"),
                (
                    "/message/data",
                    .string(
                        Base64.encode(
                            Array(
                                """
                                {"packageName": "com.example.app", "eventTimeMillis": "1767225600000",
                                 "subscriptionNotification": {"notificationType": 2,
                                 "purchaseToken": "token-2", "subscriptionId": "premium"}}
                                """.utf8)))
                ),
            ]
        ),
        "apple/generated/test_sandbox.json": ("apple/generated/test_production.json", []),
    ]

    private static func price(_ literal: String) -> JSONNumber {
        JSONNumber(literal: literal) ?? JSONNumber(0)
    }
}

extension JSONValue {
    /// A copy with another value at a pointer; objects on the way are made.
    func replaced(_ pointer: String, _ value: JSONValue) -> JSONValue {
        replaced((JSONPointer(pointer)?.tokens ?? [])[...], value)
    }

    private func replaced(_ tokens: ArraySlice<String>, _ value: JSONValue) -> JSONValue {
        guard let key = tokens.first else { return value }
        var object = object ?? JSONObject()
        object[key] = (object[key] ?? .null).replaced(tokens.dropFirst(), value)
        return .object(object)
    }
}
