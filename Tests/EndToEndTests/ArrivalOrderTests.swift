import HTTPClient
import JSON
import TestMaterial
import Testing

/// Orders of arrival through the webhook endpoint and PostgreSQL; in memory there are hundreds more.
@Suite(.serialized, .timeLimit(.minutes(1))) struct ArrivalOrderTests {
    /// The same story for each person, hours apart.
    private static let story = [
        ("INITIAL_PURCHASE", JSONObject()), ("BILLING_ISSUE", JSONObject()),
        ("RENEWAL", JSONObject()), ("CANCELLATION", JSONObject([("cancel_reason", "UNSUBSCRIBE")])),
        ("UNCANCELLATION", JSONObject()),
        ("PRODUCT_CHANGE", JSONObject([("new_product_id", "max")])),
        ("CANCELLATION", JSONObject([("cancel_reason", "CUSTOMER_SUPPORT")])),
    ]

    private static func body(_ place: Int, _ person: String) -> [UInt8] {
        let (type, more) = story[place]
        var event = JSONObject([
            ("id", .string("\(person)-\(place)")), ("type", .string(type)),
            ("app_user_id", .string(person)), ("environment", "PRODUCTION"),
            ("event_timestamp_ms", .integer(1_767_225_600_000 + Int64(place) * 3_600_000)),
            ("original_transaction_id", .string("t-" + person)), ("product_id", "pro"),
            ("period_type", "NORMAL"), ("store", "APP_STORE"),
            ("expiration_at_ms", .integer(1_769_904_000_000 + Int64(place) * 1_000)),
        ])
        for (key, value) in more { event[key] = value }
        let body: JSONValue = ["event": .object(event)]
        return body.bytes
    }

    // S5.5
    @Test func `every order of arrival leaves the same row and has entered the same`() async throws
    {
        let seed = UInt64.random(in: 1...999_999)
        print("seed=\(seed)")
        var random = SeededGenerator(seed: seed)
        let people = (0..<8).map { "person-\($0)" }
        let orders = people.map { _ in
            let order = Array(Self.story.indices).shuffled(using: &random)
            return order + order.filter { _ in random.chance(30) }
        }
        let names = ["subscription.started", "subscription.renewed", "subscription.refunded"]
        let workflows = names.map { name in
            Definitions.tellsLog(id: String(name.split(separator: ".")[1]), event: name)
        }
        try await World.with(workflows: workflows) { world in
            try await world.withWorker { worker in
                for place in 0..<(orders.map(\.count).max() ?? 0) {
                    for (person, order) in zip(people, orders) where place < order.count {
                        let answer = try await worker.door.post(Self.body(order[place], person))
                        #expect(answer.status == 200)
                    }
                }
                try await world.untilQuiet()
            }
            let rows = try await world.texts(
                """
                select (
                    select string_agg(f.key || '=' || (f.value -> 'value')::text, ' ' order by f.key)
                    from json_each(s.state -> 'fields') f
                ) as value
                from journey.subscriptions s
                """)
            #expect(rows.count == people.count, "seed=\(seed)")
            #expect(Set(rows).count == 1, "seed=\(seed): \(Set(rows))")
            let entered = try await world.texts(
                """
                select string_agg(distinct workflow, ' ' order by workflow) as value
                from journey.runs group by customer
                """)
            #expect(entered == Array(repeating: "refunded renewed started", count: people.count))
        }
    }
}
