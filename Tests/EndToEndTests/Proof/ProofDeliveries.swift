import JSON
import TestMaterial
import TestModel

/// One webhook that a provider sends, perhaps several times.
struct ProofDelivery: Sendable {
    enum Provider: Sendable { case revenueCat, superwall }

    let provider: Provider
    /// The provider's event id.
    let id: String
    let body: [UInt8]
    let json: JSONValue
    /// Whether the provider gives this id to another event too: then neither must be lost.
    var isConflict = false

    var connector: String {
        switch provider {
        case .revenueCat: "revenuecat"
        case .superwall: "superwall"
        }
    }
}

/// What happens to the proof's customers, as their providers tell it: out of order, more than once, and
/// some of it at the same moment.
struct ProofDeliveries {
    /// Deliveries for each new customer.
    private let interval: Int
    private var generator: SeededGenerator
    private let start: Int64
    private var next = 0
    private var counts: [Int: Int] = [:]
    private var queue: [ProofDelivery] = []
    private let fixtures: [String: JSONObject]

    /// How far apart two deliveries may be swapped.
    private static let disorder = 80

    /// - Parameter start: when the first event occurred, in milliseconds.
    init(interval: Int, seed: UInt64, start: Int64) throws {
        self.interval = interval
        self.start = start
        generator = SeededGenerator(seed: seed)
        var fixtures: [String: JSONObject] = [:]
        for name in Self.revenueCat.map(\.file) + Self.superwall {
            fixtures[name] = try Webhook.fixture(name).object ?? JSONObject()
        }
        self.fixtures = fixtures
    }

    /// The next one to be sent; there is always another.
    mutating func pop() -> ProofDelivery {
        while queue.count < Self.disorder * 2 { grow() }
        return queue.remove(at: Int.random(in: 0..<Self.disorder, using: &generator))
    }

    private mutating func grow() {
        // Customers come in one after the other, and those who are there go on. Who is new must be
        // routed, so they come for as long as the proof goes on.
        let newest = next / interval
        let person = next % interval == 0 ? newest : anybody(below: newest)
        next += 1
        let delivery = make(person)
        queue.append(delivery)
        switch Int.random(in: 0..<100, using: &generator) {
        case ..<10: queue.append(delivery)
        case ..<13:
            queue.append(
                ProofDelivery(
                    provider: delivery.provider, id: delivery.id,
                    body: Array(" \n".utf8) + delivery.body, json: delivery.json))
        case ..<14:
            var other = make(person, id: delivery.id, unlike: delivery)
            other.isConflict = true
            queue.append(other)
        default: break
        }
    }

    private mutating func anybody(below newest: Int) -> Int {
        Int.random(in: 0...newest, using: &generator)
    }

    // MARK: Bodies

    private struct Kind {
        let file: String
        var changes: [(String, JSONValue)] = []
    }

    private static let revenueCat: [Kind] = [
        Kind(file: "revenuecat/trial-started"),
        Kind(file: "revenuecat/trial-converted"),
        Kind(
            file: "revenuecat/trial-converted",
            changes: [("is_trial_conversion", false)]),
        Kind(
            file: "revenuecat/trial-converted",
            changes: [("is_trial_conversion", false)]),
        Kind(file: "revenuecat/billing-issue"),
        Kind(file: "revenuecat/billing-issue"),
        Kind(file: "revenuecat/cancelled"),
        Kind(file: "revenuecat/cancelled", changes: [("period_type", "TRIAL")]),
        Kind(
            file: "revenuecat/cancelled",
            changes: [("type", "UNCANCELLATION"), ("period_type", "TRIAL")]),
        Kind(file: "revenuecat/refunded"),
        Kind(file: "revenuecat/expired"),
    ]

    private static let superwall = [
        "superwall/trial-started", "superwall/trial-converted", "superwall/renewed",
        "superwall/cancelled", "superwall/refunded",
    ]

    private mutating func make(
        _ person: Int, id: String? = nil, unlike other: ProofDelivery? = nil
    ) -> ProofDelivery {
        let number = counts[person, default: 0]
        counts[person] = number + 1
        let name = "person-\(person)"
        // Three in ten events occur at the same moment as another.
        let hour = Int.random(in: 0..<100, using: &generator) < 30 ? number / 2 : number
        let time = start + Int64(person) * 1_000 + Int64(hour) * 3_600_000
        let isSuperwall: Bool
        switch other?.provider {
        case .superwall: isSuperwall = true
        case .revenueCat: isSuperwall = false
        case nil: isSuperwall = number > 0 && Int.random(in: 0..<4, using: &generator) == 0
        }
        let id = id ?? "p\(person)-\(number)"
        if isSuperwall {
            let file = Self.superwall.randomElement(using: &generator) ?? ""
            return superwall(file, id: id, person: name, time: time)
        }
        let kind =
            number == 0
            ? Self.revenueCat[0] : Self.revenueCat.randomElement(using: &generator)
        return revenueCat(kind ?? Self.revenueCat[0], id: id, person: name, time: time)
    }

    private func revenueCat(
        _ kind: Kind, id: String, person: String, time: Int64
    ) -> ProofDelivery {
        var whole = fixtures[kind.file] ?? JSONObject()
        var event = whole["event"]?.object ?? JSONObject()
        event["id"] = .string(id)
        event["event_timestamp_ms"] = .integer(time)
        event["app_user_id"] = .string(person)
        event["original_app_user_id"] = .string("$RCAnonymousID:" + person)
        event["aliases"] = [.string(person), .string("$RCAnonymousID:" + person)]
        event["original_transaction_id"] = .string("t-" + person)
        for (key, value) in kind.changes { event[key] = value }
        whole["event"] = .object(event)
        let json = JSONValue.object(whole)
        return ProofDelivery(provider: .revenueCat, id: id, body: json.bytes, json: json)
    }

    private func superwall(
        _ file: String, id: String, person: String, time: Int64
    ) -> ProofDelivery {
        var whole = fixtures[file] ?? JSONObject()
        var event = whole["data"]?.object ?? JSONObject()
        event["id"] = .string(id)
        event["ts"] = .integer(time)
        event["originalAppUserId"] = .string(person)
        event["originalTransactionId"] = .string("s-" + person)
        whole["data"] = .object(event)
        let json = JSONValue.object(whole)
        return ProofDelivery(provider: .superwall, id: id, body: json.bytes, json: json)
    }
}
