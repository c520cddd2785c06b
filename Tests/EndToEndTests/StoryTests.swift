import HTTPClient
import HTTPServer
import JSON
import Telemetry
import TestMaterial
import TestSupport
import Testing

/// The quickstart's story, with the shipped workflows and the fixtures' webhooks.
@Suite(.serialized, .timeLimit(.minutes(1))) struct StoryTests {
    private static func shipped() throws -> [JSONValue] {
        try ["new-subscriber-alert", "trial-onboarding"].map { name in
            let path = "\(Webhook.root)/Workflows/\(name).json"
            guard let bytes = Conformance.bytes(of: path) else { throw World.Failure(what: path) }
            return try JSONParser.parse(bytes)
        }
    }

    private static func accounts(_ receiver: Receiver) -> JSONValue {
        [
            "crm": World.account(port: receiver.port),
            "ops-hook": World.account(port: receiver.port),
        ]
    }

    @Test func `a trial waits, converts, is told once, and leaves nothing behind`() async throws {
        try await World.with(workflows: try Self.shipped()) { world in
            let receiver = try Receiver(loop: world.loop)
            try await world.withWorker(accounts: Self.accounts(receiver)) { worker in
                let started = try await worker.door.post(
                    try Webhook.fixture("revenuecat/trial-started"))
                #expect(started.status == 200)
                #expect(started.word == "accepted")
                try await world.untilQuiet()
                #expect(try await world.runs() == ["trial-onboarding waiting"])
                #expect(try await world.count("select count(*) from journey.timers") == 1)

                let converted = try await worker.door.post(
                    try Webhook.fixture("revenuecat/trial-converted"))
                #expect(converted.status == 200)
                try await world.until(
                    "select count(*) from journey.runs where status = 'completed'", is: 2)
                try await world.untilQuiet()
                #expect(
                    try await world.runs() == [
                        "new-subscriber-alert completed", "trial-onboarding completed",
                    ])
                let requests = await receiver.arrivals.wait(for: 2)
                for request in requests { request.expectSigned() }
                #expect(Set(requests.map(\.key)).count == 2)
                #expect(
                    requests.map(\.path).sorted() == ["/journey-events", "/new-subscribers"])
                let told = requests.first { $0.path == "/journey-events" }
                #expect(told?.json["type"] == "trial_converted")
                // An early look finds nothing due, and takes the timer away.
                try await world.change("update journey.timers set due_at = now()")
                try await world.until("select count(*) from journey.timers", is: 0)
                #expect(
                    try await world.effects().sorted() == [
                        "note-told succeeded", "tell-converted succeeded", "tell-team succeeded",
                    ])
            }
            #expect(receiver.arrivals.values.count == 2)
            await receiver.stop()
        }
    }

    @Test func `a subscription from Superwall runs the automation`() async throws {
        try await World.with(workflows: try Self.shipped()) { world in
            let receiver = try Receiver(loop: world.loop)
            try await world.withWorker(accounts: Self.accounts(receiver)) { worker in
                let answer = try await worker.door.postSigned(
                    try Webhook.fixture("superwall/subscription-started"))
                #expect(answer.word == "accepted")
                let request = try #require(await receiver.arrivals.wait().first)
                request.expectSigned()
                #expect(request.json["provider"] == "superwall")
                try await world.until(
                    "select count(*) from journey.runs where status = 'completed'", is: 1)
            }
            await receiver.stop()
        }
    }

    @Test func `every shipped fixture is taken, whatever it says`() async throws {
        try await World.with(workflows: try Self.shipped()) { world in
            let receiver = try Receiver(loop: world.loop)
            try await world.withWorker(accounts: Self.accounts(receiver)) { worker in
                let names = [
                    "trial-started", "trial-converted", "billing-issue", "cancelled-billing-error",
                    "cancelled", "refunded", "expired", "transfer", "test",
                ]
                for name in names {
                    let answer = try await worker.door.post(
                        try Webhook.fixture("revenuecat/" + name))
                    #expect(answer.word == "accepted", "\(name)")
                }
                try await world.until("select count(*) from journey.inbox", is: 0)
                let states = try await world.texts(
                    "select distinct state as value from journey.deliveries")
                #expect(states == ["processed"])
            }
            await receiver.stop()
        }
    }

    // S17.3
    @Test func `sandbox never enters a production workflow, and a test starts nothing`()
        async throws
    {
        try await World.with(workflows: [Definitions.tell(), Definitions.waits()]) { world in
            try await world.withWorker { worker in
                for json in [
                    try Webhook.revenueCat(
                        "trial-started", id: "s1", person: "person-1", environment: "SANDBOX"),
                    try Webhook.revenueCat(
                        "trial-started", id: "s2", person: "person-1", environment: "UNHEARD_OF"),
                    try Webhook.fixture("revenuecat/test"),
                ] {
                    #expect(try await worker.door.post(json).word == "accepted")
                }
                try await world.until("select count(*) from journey.inbox", is: 0)
                #expect(try await world.runs() == [])
                #expect(
                    try await world.texts(
                        "select name || ' ' || environment as value from journey.events order by 1"
                    ) == [
                        "connector.test sandbox", "trial.started sandbox", "trial.started sandbox",
                    ])
            }
        }
    }

    // S17.2
    @Test func `the provider's own app is told with the event and keys nothing`() async throws {
        try await World.with(workflows: [Definitions.waits()]) { world in
            try await world.withWorker { worker in
                for (name, id, app) in [
                    ("trial-started", "a1", "app-of-ios"), ("trial-converted", "a2", "app-of-web"),
                ] {
                    var whole =
                        try Webhook.revenueCat(name, id: id, person: "person-1").object
                        ?? JSONObject()
                    var event = whole["event"]?.object ?? JSONObject()
                    event["app_id"] = .string(app)
                    whole["event"] = .object(event)
                    #expect(try await worker.door.post(.object(whole)).word == "accepted")
                }
                try await world.until("select count(*) from journey.events", is: 2)
                #expect(
                    try await world.texts(
                        "select event->>'app' as value from journey.events order by ordinal")
                        == ["app-of-ios", "app-of-web"])
                #expect(try await world.count("select count(*) from journey.customers") == 1)
                #expect(
                    try await world.count(
                        "select count(*) from journey.customers where app is not null") == 0)
            }
        }
    }

    // S18.3
    @Test func `a definition that cannot be read holds its own customers back, and loses nothing`()
        async throws
    {
        try await World.with(workflows: [Definitions.waits(), Definitions.waits(id: "broken")]) {
            world in
            let started = try Webhook.revenueCat("trial-started", id: "b1", person: "person-1")
            let converted = try Webhook.revenueCat("trial-converted", id: "b2", person: "person-1")
            let other = try Webhook.revenueCat("trial-started", id: "b3", person: "person-2")
            try await world.withWorker { worker in
                #expect(try await worker.door.post(started).status == 200)
                try await world.until("select count(*) from journey.runs", is: 2)
            }
            // By hand, as no publisher would.
            try await world.change(
                """
                update journey.workflow_versions
                set canonical = canonical || 'x'::bytea where workflow = 'broken'
                """)
            try await world.withWorker { worker in
                #expect(try await worker.door.post(converted).status == 200)
                try await world.until("select count(*) from journey.set_aside", is: 1)
                #expect(try await worker.door.post(other).status == 200)
                try await world.until("select count(*) from journey.runs", is: 3)
                #expect(
                    try await world.runs() == ["broken waiting", "waits waiting", "waits waiting"])
                #expect(try await world.count("select count(*) from journey.inbox") == 1)
                let metrics = try Exposition.read(
                    try await world.get(worker.admin + "/metrics").text)
                #expect(metrics["journey_turns_total"].map { $0 < 20 } == true, "no hot loop")
            }
            try await world.change(
                """
                update journey.workflow_versions
                set canonical = substr(canonical, 1, length(canonical) - 1) where workflow = 'broken'
                """)
            try await world.change("update journey.set_aside set retry_at = now()")
            try await world.withWorker { _ in
                try await world.until(
                    "select count(*) from journey.runs where status = 'completed'", is: 2)
            }
        }
    }
}
