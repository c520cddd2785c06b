import CommandLine
import HTTPClient
import JSON
import JourneyWorker
import Reactor
import TestSupport
import Testing
import TimeZones
import journey_replay

/// Stored deliveries that are offered again, by the command, through a worker.
@Suite(.serialized, .timeLimit(.minutes(2))) struct ReplayDeliveriesTests {
    struct Answer {
        let code: Int32
        let rows: [JSONValue]
        let errors: String
    }

    static func run(
        _ world: World, _ words: [String], config: String? = nil
    ) async -> Answer {
        let output = TextStream.memory()
        let errors = TextStream.memory()
        let named = config.map { ["--config", $0] } ?? ["--database", world.conninfo]
        let code = await ReplayCommand(
            terminal: Terminal(
                output: output, error: errors, isInteractive: false, answers: { nil }),
            environment: [:], loop: world.loop, now: systemClock, inputLine: { nil }
        ).run(named + words + ["-o", "jsonl"])
        let rows = output.written.split(separator: "\n").compactMap {
            try? JSONParser.parse(String($0))
        }
        return Answer(code: code.rawValue, rows: rows, errors: errors.written)
    }

    /// A provider of one's own: what `sold` is called hangs on the version of its mapping.
    private static func provider(sold outcome: String?) -> JSONValue {
        var rules: [JSONValue] = [["when": ["/type": "opened"], "outcome": "purchase.started"]]
        if let outcome {
            rules.append(["when": ["/type": "sold"], "outcome": .string(outcome)])
        }
        return [
            "provider": "till", "title": "Till", "version": outcome == nil ? 1 : 2, "object": "",
            "type": "/type", "id": ["/id"],
            "authenticate": ["schemes": ["standard-webhooks"], "usual": "standard-webhooks"],
            "time": [["at": "/at", "as": ["rfc3339"]]], "customer": ["ids": [["at": "/user"]]],
            "properties": [
                "subscription_key": ["at": "/sale", "as": "text"],
                "product_id": ["at": "/product", "as": "text"],
            ], "rules": .array(rules),
        ]
    }

    private static func changes(_ folder: String, secret: String = Secrets.superwall) -> JSONObject
    {
        JSONObject([
            ("providers", ["files": [.string(folder + "/till.json")]]),
            (
                "connectors",
                [
                    "till": [
                        "provider": "till", "unknown_environment": "production",
                        "authenticate": [
                            ["scheme": "standard-webhooks", "secret": .string(secret)]
                        ],
                    ]
                ]
            ),
        ])
    }

    private static func sale(_ id: String, type: String = "sold", user: String = "user-1")
        -> [UInt8]
    {
        let body: JSONValue = [
            "id": .string(id), "type": .string(type), "user": .string(user),
            "at": "2026-03-01T10:00:00Z", "sale": "s1", "product": "pro",
        ]
        return body.bytes
    }

    private static func write(_ value: JSONValue, to path: String) throws {
        try BugBodies.write(value.bytes, to: path)
    }

    /// Posts to the till's connector, signed.
    private static func post(_ body: [UInt8], _ world: World, _ worker: Worker) async throws {
        let answer = try await worker.door.postSigned(body, path: "/v1/webhooks/till")
        #expect(answer.status == 200)
        try await world.untilRead()
    }

    private static let waits: JSONValue = [
        "dsl": 1, "id": "waits", "kind": "journey",
        "entry": ["trigger": ["event": "purchase.started"]], "start": "wait",
        "steps": [
            "wait": [
                "type": "wait_until", "timeout": "P9D", "on_timeout": "end",
                "branches": [["id": "sold", "event": "subscription.started", "next": "end"]],
            ]
        ],
    ]

    private static func tells(_ id: String, _ event: String) -> JSONValue {
        [
            "dsl": 1, "id": .string(id), "kind": "automation",
            "entry": ["trigger": ["event": .string(event)], "reentry": "every_time"],
            "start": "tell",
            "steps": [
                "tell": [
                    "type": "action", "tool": "http", "account": "crm",
                    "with": ["path": "/tell", "json": ["run": ["ref": "/run/id"]]], "next": "end",
                ]
            ],
        ]
    }

    private static let mistaken: JSONValue = [
        "dsl": 1, "id": "mistaken", "kind": "journey",
        "entry": ["trigger": ["event": "connector.unknown"], "reentry": "every_time"],
        "start": "rest",
        "steps": ["rest": ["type": "delay", "for": "P9D", "next": "end"]],
    ]

    @Test func `what no mapping knew is mapped again, once, and nobody is messaged by it`()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let workflows = [
                Self.waits, Self.mistaken, Self.tells("tells", "subscription.started"),
            ]
            try await World.with(workflows: workflows) { world in
                let receiver = try Receiver(loop: world.loop)
                let accounts: JSONValue = ["crm": World.account(port: receiver.port)]
                try Self.write(Self.provider(sold: nil), to: folder + "/till.json")
                try await world.withWorker(accounts: accounts, changes: Self.changes(folder)) {
                    worker in
                    try await Self.post(Self.sale("e1", type: "opened"), world, worker)
                    try await Self.post(Self.sale("e2"), world, worker)
                    try await Self.post(Self.sale("e3", user: "user-2"), world, worker)
                    #expect(
                        try await world.runs() == [
                            "mistaken waiting", "mistaken waiting", "waits waiting",
                        ])
                }
                // The mapping is mended, and the worker started anew.
                try Self.write(
                    Self.provider(sold: "subscription.started"), to: folder + "/till.json")
                let configuration = world.configuration(
                    accounts: accounts, changes: Self.changes(folder))
                try Self.write(configuration, to: folder + "/config.json")
                try await Self.recheck(world, folder, accounts)
                try await world.withWorker(accounts: accounts, changes: Self.changes(folder)) { _ in
                    try await Self.remap(world)
                    try await Self.startWhatWasMissed(world)
                }
                // Not one request went out.
                #expect(receiver.arrivals.values.isEmpty)
                try await Self.verifyAll(world)
                await receiver.stop()
            }
        }
    }

    /// `deliveries recheck` says what would change, and changes nothing.
    private static func recheck(
        _ world: World, _ folder: String, _ accounts: JSONValue
    ) async throws {
        let words = ["deliveries", "recheck", "--where", "connector=till"]
        let answer = await run(world, words, config: folder + "/config.json")
        #expect(answer.code == 0, "\(answer.errors)")
        #expect(
            answer.rows.map { $0["after"] } == ["subscription.started", "subscription.started"])
        #expect(answer.rows.allSatisfy { $0["authenticated"] == true })
        #expect(
            answer.errors.contains("3 deliveries checked again: 1 the same, 2 would change"))
        // Another secret would not have let them in; their signatures were kept.
        let other = "whsec_" + "YW5vdGhlci1zaWduaW5nLWtleS1vZi10aGUtdGVzdHM="
        try write(
            world.configuration(accounts: accounts, changes: changes(folder, secret: other)),
            to: folder + "/other.json")
        let refused = await run(world, words, config: folder + "/other.json")
        #expect(refused.rows.count == 3)
        #expect(refused.rows.allSatisfy { $0["authenticated"] == false })
        #expect(refused.errors.contains("3 would not be authenticated"))
        let one = await run(world, ["deliveries", "recheck", "999999"])
        #expect(one.code == 4)
        #expect(try await world.count("select count(*) from journey.events") == 3)
    }

    private static func remap(_ world: World) async throws {
        let words = ["replay-deliveries", "--remap", "--where", "connector=till"]
        let nothing = await run(world, ["replay-deliveries", "--remap", "--reason", "x", "--yes"])
        #expect(nothing.code == 6)
        let aimless = await run(world, ["replay-deliveries", "--all", "--reason", "x", "--yes"])
        #expect(aimless.code == 2)
        let dry = await run(world, words + ["--dry-run"])
        #expect(dry.code == 0 && dry.rows.count == 3, "\(dry.errors)")
        #expect(try await world.count("select count(*) from journey.batches") == 0)
        let script = await run(world, words + ["--reason", "mended", "--yes"])
        #expect(script.code == 6 && script.errors.contains("--expect 3"))
        let answer = await run(
            world,
            words + ["--cancel-started", "--reason", "mended", "--yes", "--expect", "3"])
        #expect(answer.code == 0, "\(answer.errors)")
        #expect(
            answer.rows.map { $0["after"] } == ["subscription.started", "subscription.started"])
        #expect(answer.errors.contains("3 of 3 looked at, 2 offered, 0 impossible"))
        // The wait took it, what the mistake had started is over, and nothing was started.
        #expect(
            try await world.runs() == [
                "mistaken cancelled replay", "mistaken cancelled replay", "waits completed",
            ])
        #expect(
            try await world.texts(
                "select state #>> '{fields,status,value}' as value from journey.subscriptions")
                == ["active", "active"])
        let log = try await world.texts(
            """
            select name || ' ' || (occurred_at at time zone 'UTC')::text as value from journey.events
            where name <> 'purchase.started' order by recorded_at, customer, ordinal
            """)
        #expect(log.count == 4)
        #expect(log.suffix(2).allSatisfy { $0 == "subscription.started 2026-03-01 10:00:00" })
        // The same result does nothing.
        let again = await run(world, words + ["--reason", "x", "--yes", "--expect", "3"])
        #expect(again.code == 0 && again.rows.isEmpty, "\(again.errors)")
        #expect(try await world.count("select count(*) from journey.events") == 5)
        // A repeat by the provider is a duplicate of what the event is now.
        let audit = try await world.texts(
            "select verb || ' ' || reason as value from journey.audit where verb like 'replay%' order by id"
        )
        #expect(audit == ["replay-deliveries mended", "replay-deliveries x"])
    }

    /// `--start` without a new mapping: what was published too late is started, and sends nothing.
    private static func startWhatWasMissed(_ world: World) async throws {
        try await world.publish([tells("late", "subscription.started")])
        let answer = await run(
            world,
            [
                "replay-deliveries", "--start", "--effects", "record", "--where",
                "event=subscription.started", "--reason", "too late", "--yes", "--expect", "2",
            ])
        #expect(answer.code == 0, "\(answer.errors)")
        // Neither workflow had been started by them; each starts once a person.
        #expect(
            try await world.runs().filter { $0.hasSuffix("completed") } == [
                "late completed", "late completed", "tells completed", "tells completed",
                "waits completed",
            ])
        #expect(
            try await world.texts(
                "select distinct status || ' ' || reason as value from journey.effects")
                == ["suppressed replay"])
        #expect(try await world.count("select count(*) from journey.effects") == 4)
        #expect(
            try await world.count(
                """
                select count(*) from journey.runs
                where state #>> '{results,tell,suppressed}' = 'replay'
                """) == 4)
        let batches = await run(world, ["batches", "list"])
        #expect(batches.rows.map { $0["state"] } == ["done", "done", "done"])
        #expect(await run(world, ["batches", "show", "1"]).rows.first?["done"] == 2)
        #expect(await run(world, ["batches", "findings", "1"]).rows.count == 2)
        #expect(
            await run(world, ["batches", "cancel", "1", "--reason", "x", "--yes"]).code == 6)
    }

    private static func verifyAll(_ world: World) async throws {
        let answer = await run(world, ["verify"])
        #expect(answer.code == 0, "\(answer.errors)")
    }

    @Test func `a batch without a worker waits, is paused, resumed and cancelled`() async throws {
        try await World.with { world in
            try await world.withWorker { worker in
                let body = try Webhook.revenueCat("trial-started", id: "d1", person: "person-1")
                #expect(try await worker.door.post(body).status == 200)
                try await world.untilRead()
            }
            let made = await Self.run(
                world,
                [
                    "replay-deliveries", "--remap", "--all", "--rate", "5/s", "--reason", "x",
                    "--yes", "--no-wait",
                ])
            #expect(made.code == 0, "\(made.errors)")
            for (verb, state) in [("pause", "paused"), ("resume", "running"), ("pause", "paused")] {
                let answer = await Self.run(
                    world, ["batches", verb, "1", "--reason", "x", "--yes"])
                #expect(answer.code == 0, "\(verb): \(answer.errors)")
                #expect(
                    await Self.run(world, ["batches", "show", "1"]).rows.first?["state"]
                        == .string(state))
            }
            _ = await Self.run(world, ["batches", "resume", "1", "--reason", "x", "--yes"])
            // A worker takes it up where it stands.
            try await world.withWorker { _ in
                try await world.until(
                    "select count(*) from journey.batches where state = 'done' and passed = 1",
                    is: 1)
            }
            for text in ["5", "0/s", "x/s"] {
                let answer = await Self.run(
                    world,
                    ["replay-deliveries", "--remap", "--all", "--rate", text, "--reason", "x"])
                #expect(answer.code == 2)
            }
        }
    }
}
