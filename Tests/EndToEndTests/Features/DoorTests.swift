import FeatureLedger
import FeatureModel
import Glibc
import HTTPClient
import JSON
import Postgres
import Telemetry
import Testing

/// What the journey side hears through its one door, in real processes of both sides on one database.
@Suite(.serialized, .timeLimit(.minutes(2))) struct FeatureDoorTests {
    /// Enters whoever has premium, waits until the credits run low, and looks at what is left.
    private static let lowCredits: JSONValue = [
        "dsl": 1, "id": "low-credits", "kind": "journey",
        "entry": [
            "trigger": ["event": "trial.started"], "reentry": "every_time",
            "where": ["feature": ["id": "premium", "allowed": true]],
        ],
        "start": "until-low",
        "steps": [
            "until-low": [
                "type": "wait_until", "timeout": "P30D", "on_timeout": "end",
                "branches": [
                    [
                        "id": "low",
                        "if": ["not": ["feature": ["id": "credits", "balance": ["gte": 6]]]],
                        "next": "what-is-left",
                    ]
                ],
            ],
            "what-is-left": [
                "type": "branch", "else": "none",
                "branches": [
                    [
                        "id": "some", "if": ["gte": [["ref": "/features/credits/balance"], 1]],
                        "next": "some",
                    ]
                ],
            ],
            "some": ["type": "exit", "reason": "some_left"],
            "none": ["type": "exit", "reason": "none_left"],
        ],
    ]

    private func withBothSides(
        _ workflows: [JSONValue],
        _ body:
            @escaping @Sendable (FeatureWorld, World, _ asWorker: JSONObject) async throws ->
            Void
    ) async throws {
        try await FeatureWorld.with { features in
            try await World.with(features.conninfo, on: features.loop, workflows: workflows) {
                world in
                let settings = PostgresSettings(connectionString: features.conninfo)
                try await Roles.apply(settings, on: features.loop)
                let role = Roles.settings(settings, as: "journey_worker").connectionString
                // The worker has its own role: what it cannot do here it cannot do anywhere.
                let asWorker = JSONObject([
                    ("database", ["url": .string(role), "pool": 4]),
                    ("sources", ["app": ["public_key": "pk_live_1234"]]),
                ])
                try await body(features, world, asWorker)
            }
        }
    }

    private func start(_ person: String, id: String, _ worker: Worker) async throws {
        let answer = try await worker.door.post(
            try Webhook.revenueCat("trial-started", id: id, person: person))
        #expect(answer.word == "accepted")
    }

    private func use(
        _ units: Int64, operation: String, of person: String, _ features: FeatureWorld,
        port: UInt16
    ) async throws {
        let answer = try await features.post(
            "/feature/consume",
            [
                "customerId": .string(person), "featureId": "credits",
                "operationId": .string(operation), "quantity": .integer(units),
            ], port: port)
        #expect(answer.json["accepted"] == true, "\(answer.json.text)")
    }

    // S22.1
    @Test func `a consumption moves the journey that waits for it, and all of it is replayed`()
        async throws
    {
        try await withBothSides([Self.lowCredits]) { features, world, asWorker in
            let server = try features.serve("server")
            let port = try await features.port(of: server)
            try await features.give("coins", to: "person-1")
            try await features.give("coins", to: "person-2")
            try await features.give("pro", to: "person-1")
            try await world.withWorker(changes: asWorker) { worker in
                // Who has no premium does not enter; an unknown customer is denied like anybody.
                try await start("person-2", id: "e1", worker)
                try await start("person-1", id: "e2", worker)
                try await world.untilQuiet()
                #expect(try await world.runs() == ["low-credits waiting"])
                try await use(10, operation: "o1", of: "person-1", features, port: port)
                try await use(985, operation: "o2", of: "person-1", features, port: port)
                try await world.until(
                    "select count(*) from journey.runs where reason = 'some_left'", is: 1)
                let ready = try await world.get(worker.admin + "/readyz")
                #expect(ready.text == "ready\n")
            }
            // The history holds what was read, and gives the same transitions again.
            let history = try await world.texts(
                "select string_agg(entries::text, ' ' order by decision) as value "
                    + "from journey.history")
            #expect(history.first?.contains(#""feature""#) == true)
            try await expect(
                ["verify"], "", features, world)
            try await expect(
                ["customer", "person-1"], "Feature credits: allowed, 5 left, for person-1",
                features, world)
            try await expect(
                ["customer", "person-1", "-o", "json"], #""feature": "premium""#, features, world)
            server.signal(SIGTERM)
        }
    }

    private func expect(
        _ words: [String], _ part: String, _ features: FeatureWorld, _ world: World
    ) async throws {
        let process = try Process(
            words + ["--database", features.conninfo], of: "journey-replay", in: features.folder,
            name: words.joined(separator: "-"))
        try await world.until("\(words) ends") { process.code != nil }
        #expect(process.code == 0, "\(words): \(process.output)\(process.errors)")
        #expect(part.isEmpty || process.output.contains(part), "\(process.output)")
    }

    @Test func `what changed while no worker ran wakes those who wait for it`() async throws {
        try await withBothSides([Self.lowCredits]) { features, world, asWorker in
            for product in ["coins", "pro"] { try await features.give(product, to: "person-1") }
            try await world.withWorker(changes: asWorker) { worker in
                try await start("person-1", id: "e1", worker)
                try await world.untilQuiet()
                // The place up to which changes were looked at is kept.
                try await world.until("select count(*) from journey.feature_watch", is: 1)
            }
            #expect(try await world.runs() == ["low-credits waiting"])
            let ledger = LedgerStore(
                pool: features.pool, catalogues: CatalogueStore(pool: features.pool))
            _ = try await ledger.consume(
                ConsumeCommand(
                    customer: Key(checked: "person-1"), feature: Key(checked: "credits"),
                    operation: Key(checked: "o1"), quantity: try #require(Quantity(1_000))),
                in: .production)
            try await world.withWorker(changes: asWorker) { _ in
                try await world.until(
                    "select count(*) from journey.runs where reason = 'none_left'", is: 1)
            }
        }
    }

    @Test func `a checkout that a delegate reports completes a journey and changes no feature`()
        async throws
    {
        let checkout: JSONValue = [
            "dsl": 1, "id": "checkout", "kind": "journey",
            "entry": ["trigger": ["event": "trial.started"], "reentry": "every_time"],
            "start": "wait",
            "steps": [
                "wait": [
                    "type": "wait_until", "timeout": "P1D", "on_timeout": "end",
                    "branches": [["id": "paid", "event": "purchase.completed", "next": "paid"]],
                ],
                "paid": ["type": "exit", "reason": "paid"],
            ],
        ]
        try await withBothSides([checkout]) { features, world, asWorker in
            for product in ["coins", "pro"] { try await features.give(product, to: "person-1") }
            let before = try await features.projection()
            #expect(before.count > 4)
            try await world.withWorker(changes: asWorker) { worker in
                try await start("person-1", id: "e1", worker)
                try await world.untilQuiet()
                let paid: JSONValue = [
                    "apiKey": "pk_live_1234", "event": "$purchase_completed",
                    "distinct_id": "person-1", "idempotency_key": "k1",
                    "properties": ["product_id": "coins", "operation_id": "op-1"],
                ]
                let answer = try await worker.door.post(
                    paid.bytes, authorization: [], path: "/event")
                #expect(answer.status == 200)
                try await world.until(
                    "select count(*) from journey.runs where reason = 'paid'", is: 1)
            }
            let after = try await features.projection()
            #expect(before == after)
        }
    }

    @Test func `where there is no feature side features are unknown, which is said once`()
        async throws
    {
        try await World.with(workflows: [Self.lowCredits]) { world in
            try await world.withWorker { worker in
                try await start("person-1", id: "e1", worker)
                try await world.untilQuiet()
                #expect(try await world.count("select count(*) from journey.runs") == 0)
                try await world.until("readyz says so") {
                    try await world.get(worker.admin + "/readyz").text
                        == "ready, features are unknown\n"
                }
                let said = world.log.lines.count { $0.contains("features are unknown") }
                #expect(said == 1)
            }
        }
    }
}
