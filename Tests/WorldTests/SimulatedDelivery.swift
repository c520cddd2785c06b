import JSON
import TestMaterial
import TestModel
import TimeZones

/// A webhook that a provider sends until it is answered 200.
struct SimulatedDelivery {
    let id: String
    let person: String
    let body: [UInt8]

    private static let kinds: [(type: String, changes: [(String, JSONValue)])] = [
        ("INITIAL_PURCHASE", [("period_type", "TRIAL")]),
        ("RENEWAL", [("is_trial_conversion", true)]),
        ("RENEWAL", []), ("RENEWAL", []),
        ("BILLING_ISSUE", []),
        ("CANCELLATION", [("cancel_reason", "UNSUBSCRIBE")]),
        ("CANCELLATION", [("cancel_reason", "UNSUBSCRIBE"), ("period_type", "TRIAL")]),
        ("UNCANCELLATION", [("period_type", "TRIAL")]),
        ("CANCELLATION", [("cancel_reason", "CUSTOMER_SUPPORT"), ("expiration_at_ms", 1)]),
        ("EXPIRATION", []),
    ]

    /// What happens to one or two people: some of it twice, some under the id of another event, and in
    /// another order than it occurred.
    static func script(_ random: inout SeededGenerator, now: Instant) -> [SimulatedDelivery] {
        var mail: [SimulatedDelivery] = []
        for person in 0..<Int.random(in: 1...2, using: &random) {
            for number in 0..<Int.random(in: 2...7, using: &random) {
                let kind =
                    number == 0 ? kinds[0] : kinds.randomElement(using: &random) ?? kinds[0]
                let hour = random.chance(30) ? number / 2 : number
                let time = now.milliseconds - 86_400_000 + Int64(hour) * 60_000
                let id = random.chance(5) ? "p\(person)-0" : "p\(person)-\(number)"
                let delivery = make(kind, id: id, person: "person-\(person)", time: time)
                mail.append(delivery)
                if random.chance(15) { mail.append(delivery) }
            }
        }
        for place in mail.indices where random.chance(50) {
            mail.swapAt(place, Int.random(in: mail.indices, using: &random))
        }
        return mail
    }

    private static func make(
        _ kind: (type: String, changes: [(String, JSONValue)]), id: String, person: String,
        time: Int64
    ) -> SimulatedDelivery {
        var event = JSONObject([
            ("id", .string(id)), ("type", .string(kind.type)),
            ("event_timestamp_ms", .integer(time)), ("app_user_id", .string(person)),
            ("original_transaction_id", .string("t-" + person)), ("environment", "PRODUCTION"),
            ("period_type", "NORMAL"), ("expiration_at_ms", .integer(time + 1_000)),
        ])
        for (key, value) in kind.changes { event[key] = value }
        let body = JSONValue.object(JSONObject([("event", .object(event))]))
        return SimulatedDelivery(id: id, person: person, body: body.bytes)
    }
}
