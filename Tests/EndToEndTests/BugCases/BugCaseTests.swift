import HTTPClient
import JSON
import TestSupport
import Testing
import TimeZones

/// The public bug cases about repeats, order and identity, each by its id.
@Suite(.serialized, .timeLimit(.minutes(1))) struct BugCaseTests {
    // MARK: Repeats

    @Test func `dup-credits-twice: a delivery twice is one outcome`() async throws {
        try await BugWorld.run("dup-credits-twice") { bug in
            try await bug.deliver(
                ("stripe/basil/invoice.paid.json", []), ("stripe/basil/invoice.paid.json", []))
            #expect(try await bug.world.count("select count(*) from journey.delivery_ids") == 1)
            #expect(try await bug.events().filter { $0 == "invoice.paid" }.count == 1)
        }
    }

    // S16.1
    @Test func `dup-new-message-id-same-event: the body's id counts, not the transport's`()
        async throws
    {
        try await BugWorld.run("dup-new-message-id-same-event") { bug in
            let body = try bug.bodies.body("superwall/renewal.json")
            let words = [
                try await bug.post(body, to: "superwall", id: "msg_1").word,
                try await bug.post(body, to: "superwall", id: "msg_2").word,
            ]
            #expect(words == ["accepted", "duplicate"])
        }
    }

    @Test func `dup-apple-six-deliveries: six notifications of one UUID are one outcome`()
        async throws
    {
        try await BugWorld.run("dup-apple-six-deliveries") { bug in
            for _ in 0..<6 { try await bug.deliver(("apple/generated/did_renew.json", [])) }
            #expect(try await bug.events().filter { $0 == "subscription.renewed" }.count == 1)
            #expect(try await bug.world.count("select count(*) from journey.delivery_ids") == 1)
        }
    }

    @Test func `dup-two-events-one-purchase: three deliveries keep three outcomes and ids`()
        async throws
    {
        try await BugWorld.run("dup-two-events-one-purchase") { bug in
            try await bug.deliver(
                ("lemonsqueezy/order_created_no_custom_data.json", []),
                ("lemonsqueezy/subscription_created.json", []),
                ("lemonsqueezy/subscription_payment_success.json", []))
            #expect(try await bug.world.count("select count(*) from journey.delivery_ids") == 3)
            let events = Set(try await bug.events())
            #expect(events.isSuperset(of: ["subscription.started", "subscription.renewed"]))
        }
    }

    // MARK: Order

    @Test func `order-transfer-chain: the later transfer decides, whichever comes first`()
        async throws
    {
        try await BugWorld.run("order-transfer-chain") { bug in
            try await bug.deliver(
                ("revenuecat/transfer_b_to_c.json", []), ("revenuecat/transfer_a_to_b.json", []))
            #expect(try await bug.events() == ["customer.transferred", "customer.transferred"])
            #expect(try await bug.world.count("select count(*) from journey.delivery_ids") == 2)
        }
    }

    @Test func `order-retry-hours-later: an old event after a newer one changes no state, is late`()
        async throws
    {
        let workflows = ["uncancelled", "cancelled"].map { word in
            Definitions.tellsLog(id: word, event: "subscription.\(word)")
        }
        try await BugWorld.run("order-retry-hours-later", workflows: workflows) { bug in
            try await bug.deliver(
                (
                    "revenuecat/uncancellation.json",
                    [("/event/id", "e2"), ("/event/event_timestamp_ms", 1_767_229_200_000)]
                ),
                (
                    "revenuecat/cancellation_unsubscribe.json",
                    [
                        ("/event/id", "e1"), ("/event/event_timestamp_ms", 1_767_225_600_000),
                        ("/event/original_transaction_id", "123456789012345"),
                        // The case speaks of one customer.
                        ("/event/app_user_id", "1234567890"),
                    ]
                ))
            #expect(
                try await bug.events() == ["subscription.uncancelled", "subscription.cancelled"])
            let state = try await bug.world.texts(
                "select state #>> '{fields,will_renew,value}' as value from journey.subscriptions")
            #expect(state == ["true"])
            // Each starts what it starts once; the older one says that it came late.
            #expect(
                try await bug.world.texts(
                    "select workflow as value from journey.runs order by entered_at, workflow")
                    == ["uncancelled", "cancelled"])
            #expect(
                try await bug.world.texts(
                    "select coalesce(event ->> 'late', 'false') as value from journey.events order by ordinal"
                ) == ["false", "true"])
        }
    }

    @Test func `order-far-future-watermark: a time in 4466 is clamped and holds nothing up`()
        async throws
    {
        try await BugWorld.run("order-far-future-watermark") { bug in
            try await bug.deliver(
                ("revenuecat/transfer.json", []),
                (
                    "revenuecat/renewal.json",
                    [("/event/id", "e9"), ("/event/event_timestamp_ms", 1_767_225_600_000)]
                ))
            #expect(try await bug.events() == ["customer.transferred", "subscription.renewed"])
        }
    }

    @Test func `order-stripe-updated-before-created: both are told, in any order`() async throws {
        try await BugWorld.run("order-stripe-updated-before-created") { bug in
            try await bug.deliver(
                ("stripe/basil/customer.subscription.updated.json", []),
                ("stripe/basil/customer.subscription.created.json", []))
            #expect(try await bug.events() == ["subscription.started", "purchase.pending"])
        }
    }

    /// A checkout that either side ends.
    private static let checkout: JSONValue = [
        "dsl": 1, "id": "checkout", "kind": "journey",
        "entry": ["trigger": ["event": "purchase.started"]], "start": "wait",
        "steps": [
            "wait": [
                "type": "wait_until", "timeout": "P1D", "on_timeout": "end",
                "branches": [
                    [
                        "id": "bought",
                        "event": ["purchase.completed", "subscription.started"],
                        "next": "bought",
                    ]
                ],
            ],
            "bought": ["type": "milestone", "milestone": "bought", "next": "end"],
        ],
    ]

    @Test(arguments: [true, false])
    func `order-client-beats-webhook: two events, and the journey advances once`(isAppFirst: Bool)
        async throws
    {
        let sources = JSONObject([
            (
                "sources",
                [
                    "backend": ["token": "backend-token-1234567"],
                    "app": ["public_key": "pk_live_1234"],
                ]
            )
        ])
        try await BugWorld.run(
            "order-client-beats-webhook", workflows: [Self.checkout], changes: sources
        ) { bug in
            let opened: JSONValue = ["event": "purchase.started", "customer_id": "1234567890"]
            _ = try await bug.worker.door.post(
                opened.bytes, authorization: ["Bearer backend-token-1234567"], path: "/v1/events")
            try await bug.world.until(
                "select count(*) from journey.runs where status = 'waiting'", is: 1)
            let app: JSONValue = [
                "apiKey": "pk_live_1234", "event": "$purchase_completed",
                "distinct_id": "1234567890",
                "idempotency_key": "k1", "properties": ["transaction_id": "2000000900000001"],
            ]
            func tellByApp() async throws {
                let answer = try await bug.worker.door.post(
                    app.bytes, authorization: [], path: "/event")
                #expect(answer.status == 200)
                try await bug.world.untilRead()
            }
            func tellByProvider() async throws {
                try await bug.deliver(
                    (
                        "revenuecat/initial_purchase.json",
                        [
                            ("/event/id", "p1"), ("/event/transaction_id", "2000000900000001"),
                            (
                                "/event/event_timestamp_ms",
                                .integer(systemClock().milliseconds)
                            ),
                        ]
                    ))
            }
            if isAppFirst { try await tellByApp() }
            try await tellByProvider()
            if !isAppFirst { try await tellByApp() }
            let names = try await bug.world.texts(
                "select name as value from journey.events order by name")
            #expect(names == ["purchase.completed", "purchase.started", "subscription.started"])
            #expect(try await bug.world.runs() == ["checkout completed"])
            #expect(
                try await bug.world.count(
                    """
                    select count(*) from journey.history h, json_array_elements(h.entries -> 'entries') e
                    where e ->> 'kind' = 'milestone'
                    """) == 1)
            // One purchase, whatever the app said of it first.
            #expect(try await bug.world.count("select count(*) from journey.subscriptions") == 1)
        }
    }

    // MARK: Identity

    @Test func `id-login-alias-no-transfer: an anonymous buyer and his login are one customer`()
        async throws
    {
        try await BugWorld.run("id-login-alias-no-transfer") { bug in
            let names = ["initial_purchase_anonymous_only", "renewal_trial_conversion"]
            for name in names {
                try await bug.deliver(("revenuecat/\(name).json", []))
            }
            #expect(
                try await bug.events().filter {
                    $0.hasPrefix("subscription.") || $0.hasPrefix("trial.")
                }
                .count == 2)
            #expect(
                try await bug.world.count(
                    "select count(distinct coalesce(c.forwards_to, c.id)) from journey.customers c"
                ) == 1)
        }
    }

    @Test func `id-anonymous-only: stored, for an anonymous customer`() async throws {
        try await BugWorld.run("id-anonymous-only") { bug in
            try await bug.deliver(("revenuecat/initial_purchase_anonymous_only.json", []))
            #expect(try await bug.world.count("select count(*) from journey.customers") == 1)
            #expect(
                try await bug.world.count(
                    "select count(*) from journey.customer_ids where is_own") == 0)
        }
    }

    /// By the product's contract an unseen usable id makes the record at once.
    @Test func `id-customer-unknown-yet: 200, and the customer is made`() async throws {
        try await BugWorld.run("id-customer-unknown-yet") { bug in
            try await bug.deliver(("revenuecat/renewal.json", []))
            #expect(try await bug.events() == ["subscription.renewed"])
            #expect(try await bug.world.count("select count(*) from journey.customers") == 1)
        }
    }

    @Test func `id-unknown-user-400-disables-endpoint: 200 for whom nobody knows`() async throws {
        try await BugWorld.run("id-unknown-user-400-disables-endpoint") { bug in
            try await bug.deliver(("stripe/basil/customer.subscription.deleted.json", []))
            #expect(try await bug.events() == ["subscription.expired"])
        }
    }

    @Test func `id-superwall-alias: an alias is an anonymous customer`() async throws {
        try await BugWorld.run("id-superwall-alias") { bug in
            try await bug.deliver(("superwall/renewal_alias_only.json", []))
            #expect(try await bug.events() == ["subscription.renewed"])
            #expect(
                try await bug.world.count(
                    "select count(*) from journey.customer_ids where is_own") == 0)
        }
    }

    @Test func `id-superwall-null-user: stored without a customer`() async throws {
        try await BugWorld.run("id-superwall-null-user") { bug in
            try await bug.deliver(("superwall/non_renewing_purchase_empty_user.json", []))
            #expect(try await bug.world.count("select count(*) from journey.unassigned") == 1)
        }
    }

    @Test func `id-superwall-shared-device: the configured identity wins, the other is kept`()
        async throws
    {
        try await BugWorld.run("id-superwall-shared-device") { bug in
            try await bug.deliver(
                ("superwall/renewal_stale_original_user.json", []), to: "shared-device")
            let body = try JSONParser.parse(
                try bug.bodies.body("superwall/renewal_stale_original_user.json"))
            let own = try #require(body["data"]?["userAttributes"]?["firebaseUid"]?.string)
            let stale = try #require(body["data"]?["originalAppUserId"]?.string)
            #expect(try await bug.customers(own) == 1)
            #expect(try await bug.customers(stale) == 1)
            #expect(
                try await bug.world.texts(
                    "select external_id as value from journey.customer_ids where is_own") == [own])
        }
    }

    @Test(arguments: [
        ("id-lemon-no-custom-data", "lemonsqueezy/order_created_no_custom_data.json"),
        ("id-google-no-customer", "google/subscription_02_renewed.json"),
        ("id-apple-no-token", "apple/generated/no_app_account_token.json"),
    ])
    func `id-…: what names no customer is stored and waits`(id: String, fixture: String)
        async throws
    {
        try await BugWorld.run(id) { bug in
            try await bug.deliver((fixture, []))
            #expect(try await bug.world.count("select count(*) from journey.unassigned") == 1)
            #expect(try await bug.world.count("select count(*) from journey.delivery_bodies") == 1)
        }
    }
}
