import JSON
import JourneyModel
import Postgres
import TestSupport
import Testing
import TimeZones

@testable import JourneyStorage

/// Two workers at once, and events in any order.
@Suite(.timeLimit(.minutes(3)))
struct MergeOrderTests {
    private static func tell(
        _ world: World, _ number: Int, _ person: Event.Person, _ key: String, at: Instant
    ) async throws {
        let event = Event(
            id: Event.makeID(connector: "shop", providerEventID: "\(number)"),
            connector: "shop", providerEventID: "\(number)", providerType: nil,
            name: number % 100 % 3 == 0 ? "subscription.cancelled" : "subscription.renewed",
            trust: .provider, person: person, occurredAt: at + .seconds(number), receivedAt: at,
            environment: "production",
            properties: object(("subscription_key", .string(key)), ("product_id", .integer(number)))
        )
        _ = try await world.deliveries.store([
            ArrivedDelivery(
                connector: "shop", providerEventID: "\(number)", content: .event(event),
                environment: "production", person: person)
        ])
    }

    // S10.1 S10.2 S1.3
    @Test func `two workers merge and turn at once, and every order ends the same`() async throws {
        try await Scenario.with([:], connections: 8) { scenario in
            let world = scenario.world
            let now = try await scenario.time()
            var generator = SystemRandomNumberGenerator()
            let seed = UInt64.random(in: .min ... .max, using: &generator)
            var random = SplitMix(seed)
            // Each round has persons of its own: the same events, in another order, with repeats.
            let events: [(own: String?, anonymous: [String], key: String)] = [
                ("u", [], "k1"), (nil, ["a"], "k1"), (nil, ["b"], "k2"), ("u", ["a"], "k2"),
                ("u", ["b"], "k1"), (nil, ["c"], "k3"), (nil, ["c", "b"], "k3"), ("v", [], "k4"),
                ("v", ["d"], "k4"), ("u", ["v"], "k1"),
            ]
            for round in 0..<6 {
                var order = Array(events.indices) + Array(events.indices)
                order.shuffle(using: &random)
                for place in order {
                    let event = events[place]
                    let anonymous = event.anonymous.map { id in
                        id == "v" ? "v\(round)" : "$\(id)\(round)"
                    }
                    let person =
                        event.own.map {
                            Event.Person(id: "\($0)\(round)", aliases: anonymous)
                        }
                        ?? Event.Person(
                            id: anonymous.first, aliases: Array(anonymous.dropFirst()),
                            isAnonymous: true)
                    try await Self.tell(
                        world, round * 100 + place, person, "\(event.key)-\(round)",
                        at: now - .seconds(7_200))
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<3 { group.addTask { try await scenario.settleAll() } }
                try await group.waitForAll()
            }
            try await scenario.settleAll()
            #expect(try await world.count("inbox") == 0, "seed=\(seed)")
            #expect(try await world.count("events") == 60, "seed=\(seed)")
            for round in 0..<6 {
                let records = try await world.number(
                    "select count(distinct customer) from journey.customer_ids "
                        + "where external_id in ('u\(round)', '$a\(round)', '$b\(round)', '$c\(round)')"
                )
                #expect(records == 1, "seed=\(seed)")
                let apart = try await world.number(
                    "select count(distinct customer) from journey.customer_ids "
                        + "where external_id in ('u\(round)', 'v\(round)')")
                #expect(apart == 2, "seed=\(seed)")
            }
            // One state of each subscription, whatever the order: compare rounds without their marks.
            #expect(
                try await world.number(
                    "select count(*) from (select distinct left(subscription_key, 2), "
                        + "state #>> '{fields,status,value}', "
                        + "state #>> '{fields,will_renew,value}', "
                        + "(state #>> '{fields,product_id,value}')::int % 100 "
                        + "from journey.subscriptions) s") == 4, "seed=\(seed)")
        }
    }

    // S10.1
    @Test func `an anonymous id that two persons' events name stays with the first`() async throws {
        try await Scenario.with([:]) { scenario in
            let world = scenario.world
            let now = try await scenario.time()
            for (number, id) in ["u", "v"].enumerated() {
                try await Self.tell(
                    world, number, Event.Person(id: id, aliases: ["$a"]), "k-\(id)", at: now)
                try await scenario.settleAll()
            }
            #expect(
                try await world.number(
                    "select count(distinct customer) from journey.customer_ids "
                        + "where external_id in ('u', '$a')") == 1)
            #expect(try await world.count("customers", "forwards_to is null") == 2)
            #expect(try await world.count("identity_conflicts") == 1)
        }
    }
}

/// A generator that a seed tells.
private struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
