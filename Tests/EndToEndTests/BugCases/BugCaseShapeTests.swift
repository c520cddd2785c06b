import Configuration
import FeatureLedger
import FeatureModel
import HTTPClient
import JSON
import JourneyWorker
import Postgres
import Settings
import Telemetry
import TestSupport
import Testing
import TimeZones

/// The public bug cases about bodies, numbers, times, meaning and environment, each by its id.
@Suite(.serialized, .timeLimit(.minutes(1))) struct BugCaseShapeTests {
    @Test func `shape-unknown-type: unknown types and own names are stored and told`() async throws
    {
        try await BugWorld.run("shape-unknown-type") { bug in
            try await bug.deliver(
                ("revenuecat/unknown_type.json", []), ("revenuecat/paywall_custom_name.json", []))
            #expect(try await bug.events() == ["connector.unknown", "paywall.other"])
            #expect(try await bug.world.count("select count(*) from journey.delivery_bodies") == 2)
        }
    }

    @Test func `shape-type-collision: a paywall event called TRANSFER transfers nothing`()
        async throws
    {
        try await BugWorld.run("shape-type-collision") { bug in
            try await bug.deliver(
                ("revenuecat/paywall_custom_name_collides_with_transfer.json", []))
            #expect(try await bug.events() == ["paywall.other"])
        }
    }

    /// The collection asks for 4xx; the product's contract stores what is one JSON object and shows it.
    @Test func `shape-imagined-payload: an imagined body is stored as unreadable, a real one told`()
        async throws
    {
        try await BugWorld.run("shape-imagined-payload") { bug in
            try await bug.deliver(("superwall/initial_purchase_trial.json", []))
            let imagined = try bug.bodies.body("superwall/malformed_revenuecat_like_flat.json")
            #expect(try await bug.post(imagined, to: "superwall").status == 200)
            #expect(try await bug.events().first == "trial.started")
            #expect(try await bug.world.count("select count(*) from journey.deliveries") == 2)
        }
    }

    @Test func `shape-thin-temporary-grant: six fields are enough, and nothing is unlocked`()
        async throws
    {
        try await BugWorld.run("shape-thin-temporary-grant") { bug in
            try await bug.deliver(("revenuecat/temporary_entitlement_grant_thin.json", []))
            #expect(try await bug.events() == ["access.temporary"])
        }
    }

    @Test func `shape-stripe-basil-moved-fields: both places are read`() async throws {
        try await BugWorld.run("shape-stripe-basil-moved-fields") { bug in
            try await bug.deliver(
                ("stripe/invoice.paid.json", []),
                ("stripe/basil/invoice.paid.renewal.json", []),
                ("stripe/basil/customer.subscription.updated.json", []))
            let events = try await bug.events()
            #expect(events.suffix(2) == ["subscription.renewed", "subscription.started"])
            #expect(events.count == 3)
        }
    }

    @Test func `num-negative-price: a negative price is a refund`() async throws {
        try await BugWorld.run("num-negative-price") { bug in
            try await bug.deliver(("superwall/cancellation_refund.json", []))
            #expect(try await bug.events() == ["subscription.refunded"])
            try await bug.deliver(
                (
                    "superwall/non_renewing_refund.json",
                    [("/data/originalAppUserId", "user_1001")]
                ))
            #expect(try await bug.events().last == "purchase.refunded")
            let prices = try await bug.world.texts(
                """
                select event -> 'properties' -> 'price_usd' ->> 'amount' as value
                from journey.events where name = 'subscription.refunded'
                """)
            #expect(prices == ["-9.99"])
        }
    }

    /// The collection asks for 4xx; the product's contract stores an impossible time as unreadable.
    @Test func `time-out-of-range: impossible times are kept as unreadable, and the worker lives`()
        async throws
    {
        try await BugWorld.run(
            "time-out-of-range",
            workflows: [Definitions.tellsLog(id: "any", event: "connector.unknown")]
        ) { bug in
            for (name, time) in [
                ("timestamp_negative", -1 as JSONValue),
                ("timestamp_past_year_9999", 253_402_300_800_000),
                ("timestamp_string", "never"), ("timestamp_object", ["at": 1]),
            ] {
                try await bug.deliver(
                    (
                        "revenuecat/renewal.json",
                        [("/event/id", .string(name)), ("/event/event_timestamp_ms", time)]
                    ))
            }
            for name in ["timestamp_negative", "timestamp_past_year_9999", "timestamp_string"] {
                let body = try bug.bodies.body("revenuecat/malformed/\(name).json")
                #expect(try await bug.post(body, to: "revenuecat").status == 200, "\(name)")
            }
            try await bug.world.untilRead()
            let found = try await bug.outcomes()
            #expect(found.prefix(4).allSatisfy { $0 == "unreadable connector.unreadable" })
            let reasons = try await bug.world.texts(
                """
                select distinct event #>> '{properties,reason}' as value from journey.events
                where event ->> 'provider_event_id' like 'timestamp%'
                """)
            #expect(reasons == ["impossible_time"])
            // Nothing is told by them, and what comes next is.
            try await bug.deliver(("revenuecat/renewal.json", [("/event/id", "after")]))
            #expect(try await bug.events().last == "subscription.renewed")
            #expect(try await bug.world.runs().isEmpty)
            #expect(try await bug.world.get(bug.worker.admin + "/healthz").status == 200)
        }
    }

    /// Only what is not one JSON object in UTF-8 is answered 400; the rest is stored and shown.
    @Test func `body-malformed: 400 for what is no JSON object, 200 for every object`() async throws
    {
        try await BugWorld.run("body-malformed") { bug in
            for (body, status) in [("", 400), ("this is not json", 400), ("[1, 2]", 400)] {
                #expect(try await bug.post(Array(body.utf8), to: "revenuecat").status == status)
            }
            for name in [
                "no_event.json", "event_null.json", "id_number.json", "id_empty.json",
                "type_missing.json",
            ] {
                let body = try bug.bodies.body("revenuecat/malformed/\(name)")
                #expect(try await bug.post(body, to: "revenuecat").status == 200, "\(name)")
            }
            #expect(try await bug.world.count("select count(*) from journey.deliveries") == 5)
        }
    }

    @Test func `body-nul-character: stored as sent, told without NUL`() async throws {
        try await BugWorld.run("body-nul-character") { bug in
            let changes: [(String, JSONValue)] = [
                ("/event/id", "e-nul"), ("/event/offer_code", "a\u{0}b"),
                ("/event/product_id", "p\u{0}q"),
            ]
            try await bug.deliver(("revenuecat/renewal.json", changes))
            #expect(try await bug.outcomes() == ["processed subscription.renewed"])
            let stored = try await bug.world.texts(
                """
                select (position('\\u0000' in convert_from(body, 'utf8')) > 0)::text as value
                from journey.delivery_bodies
                """)
            #expect(stored == ["true"])
        }
    }

    @Test func `env-missing: the connector's own environment, and never production by silence`()
        async throws
    {
        try await BugWorld.run("env-missing") { bug in
            try await bug.deliver(
                ("revenuecat/transfer_without_environment.json", []),
                ("revenuecat/experiment_enrollment.json", []))
            #expect(
                try await bug.world.texts(
                    "select distinct environment as value from journey.deliveries") == ["sandbox"])
        }
    }

    // MARK: Meaning

    @Test func `mean-refund-is-cancellation`() async throws {
        try await BugWorld.run("mean-refund-is-cancellation") { bug in
            try await bug.deliver(("revenuecat/cancellation_refund.json", []))
            #expect(try await bug.events() == ["subscription.refunded"])
        }
    }

    @Test func `mean-paused-does-not-revoke: scheduled first, then paused`() async throws {
        try await BugWorld.run("mean-paused-does-not-revoke") { bug in
            try await bug.deliver(
                ("revenuecat/subscription_paused.json", [("/event/id", "e-scheduled")]),
                ("revenuecat/expiration_subscription_paused.json", []))
            #expect(
                try await bug.events() == ["subscription.pause_scheduled", "subscription.paused"])
        }
    }

    @Test func `mean-two-products-one-entitlement: the outcome names its product and nothing more`()
        async throws
    {
        try await BugWorld.run("mean-two-products-one-entitlement") { bug in
            try await bug.deliver(("revenuecat/expiration.json", []))
            #expect(try await bug.events() == ["subscription.expired"])
        }
    }

    @Test func `mean-checkout-unpaid: pending until it is paid`() async throws {
        try await BugWorld.run("mean-checkout-unpaid") { bug in
            try await bug.deliver(
                ("stripe/basil/checkout.session.completed.unpaid_async.json", []),
                ("stripe/basil/checkout.session.async_payment_succeeded.json", []))
            #expect(try await bug.events() == ["purchase.pending", "purchase.completed"])
        }
    }

    @Test func `mean-type-codes-swapped: 1 recovers, 4 starts`() async throws {
        try await BugWorld.run("mean-type-codes-swapped") { bug in
            try await bug.deliver(
                ("google/subscription_01_recovered.json", []),
                ("google/subscription_04_purchased.json", []), to: "google-known")
            #expect(
                try await bug.events() == ["subscription.recovered", "subscription.started"])
            let types = try await bug.world.texts(
                "select event ->> 'provider_type' as value from journey.events order by ordinal")
            #expect(types == ["subscription.1", "subscription.4"])
        }
    }

    // S17.3
    @Test func `mean-paid-events-of-test-mocks: tests are shown and start nothing`() async throws {
        try await BugWorld.run("mean-paid-events-of-test-mocks", workflows: [Definitions.waits()]) {
            bug in
            try await bug.deliver(
                ("revenuecat/test.json", []), ("google/test.json", []),
                ("apple/generated/test_sandbox.json", []))
            #expect(try await bug.events().first == "connector.test")
            #expect(try await bug.world.count("select count(*) from journey.deliveries") == 3)
            #expect(try await bug.world.runs().isEmpty)
        }
    }

    /// The very people whom the bodies speak of hold features.
    @Test func `mean-access-from-connector: access events leave the projection byte for byte`()
        async throws
    {
        try await BugWorld.run("mean-access-from-connector") { bug in
            let world = bug.world
            let names = [
                "revenuecat/temporary_entitlement_grant_full.json",
                "adapty/access_level_updated.json",
            ]
            let bodies = try names.map { try JSONParser.parse(try bug.bodies.body($0)) }
            let people = [
                bodies[0]["event"]?["app_user_id"]?.string,
                bodies[1]["customer_user_id"]?.string, bodies[1]["profile_id"]?.string,
            ].compactMap(\.self)
            #expect(people.count >= 2)
            try await FeatureSchema.migrator.up(
                PostgresSettings(connectionString: world.conninfo), on: world.loop)
            try await world.grantFeatures(to: people)
            let before = try await FeatureProjection.read(world.conninfo, on: world.loop)
            #expect(before.count >= people.count)
            try await bug.deliver((names[0], []), (names[1], []))
            #expect(try await bug.events() == ["access.temporary", "connector.ignored"])
            let after = try await FeatureProjection.read(world.conninfo, on: world.loop)
            #expect(before == after)
        }
    }
}

extension World {
    /// Gives each of these people access to a feature.
    fileprivate func grantFeatures(to people: [String]) async throws {
        let pool = PostgresPool(
            settings: PostgresSettings(connectionString: conninfo), size: 1, loop: loop)
        let catalogues = CatalogueStore(pool: pool)
        let premium = FeatureKey(checked: "premium")
        let catalogue = Catalogue(features: [
            premium: FeatureDefinition(key: premium, type: .boolean)
        ])
        _ = try await catalogues.publish(catalogue, by: "a test", reason: "a test")
        let ledger = LedgerStore(pool: pool, catalogues: catalogues)
        for person in Set(people) {
            _ = try await ledger.grant(
                OperatorGrant(
                    id: .byOperator("g1"),
                    entitlements: [Entitlement(feature: premium, allowance: .access)]),
                to: CustomerKey(checked: person), in: .production,
                by: Authorship(who: "a test", reason: "a test"))
        }
        await pool.close()
    }
}
