import JSON
import JourneyModel
import JourneyTurns
import Testing
import WorkflowDefinitions

@testable import JourneyStorage

@Suite(.timeLimit(.minutes(3)))
struct SegmentStoreTests {
    private static let pro = SegmentDefinition(
        id: SegmentID("pro"), condition: .compare(.eq, at("customer", "plan"), .literal("pro")))
    private static let wider = SegmentDefinition(
        id: SegmentID("pro"), condition: .exists(JSONPointer(tokens: ["customer", "plan"])))

    // S2.8
    @Test func `a membership is kept, told once, and starts a run`() async throws {
        let flows = ["joins": flow("joins", .segment(SegmentID("pro"), on: .enter))]
        try await Scenario.with(flows, segments: ["pro": Self.pro]) { scenario in
            try await scenario.publish("joins", "pro")
            try await scenario.tell("invoice.paid", 1, plan("pro"))
            #expect(try await scenario.settle().failed.isEmpty)
            #expect(try await scenario.world.count("segment_members", "segment = 'pro'") == 1)
            #expect(
                try await scenario.world.count("runs", "cause like 'segment:pro:enter:%'") == 1)
            #expect(try await scenario.world.count("events", "name = 'segment.entered'") == 1)
            try await scenario.tell("invoice.paid", 2, plan("basic"))
            _ = try await scenario.settle()
            #expect(try await scenario.world.count("segment_members") == 0)
            #expect(try await scenario.world.count("events", "name = 'segment.left'") == 1)
        }
    }

    @Test func `publishing and editing make nobody enter, and the walk meets everybody`()
        async throws
    {
        let flows = ["joins": flow("joins", .segment(SegmentID("pro"), on: .enter))]
        let segments = ["pro": Self.pro, "pro-2": Self.wider]
        try await Scenario.with(flows, segments: segments) { scenario in
            try await scenario.publish("joins")
            for number in 1...25 {
                try await scenario.tell(
                    "invoice.paid", number, to: "u\(number)",
                    plan(number % 5 == 0 ? "pro" : "basic"))
            }
            _ = try await scenario.settle()
            try await scenario.publish("pro")
            var pages = 0
            while let page = try await scenario.schedules.walkPublished(limit: 10) {
                pages += 1
                if page.isLast { break }
            }
            #expect(pages == 3)
            #expect(try await scenario.schedules.walkPublished(limit: 10) == nil)
            _ = try await scenario.settle()
            #expect(try await scenario.world.count("segment_members") == 5)
            try await scenario.publish("pro-2")
            // Whoever has a turn before the walk is compared as well.
            try await scenario.tell("app.opened", 99, to: "u1")
            _ = try await scenario.settle()
            #expect(try await scenario.world.count("segment_members") == 6)
            while let page = try await scenario.schedules.walkPublished(limit: 10), !page.isLast {}
            _ = try await scenario.settle()
            #expect(try await scenario.world.count("segment_members") == 25)
            #expect(try await scenario.world.count("events", "name like 'segment.%'") == 0)
            #expect(try await scenario.world.count("runs") == 0)
            #expect(
                try await scenario.world.count(
                    "customers c", "definitions_seen < (select revision from journey.catalogue)")
                    == 0)
        }
    }

    @Test func `the same segment again changes nothing`() async throws {
        try await Scenario.with([:], segments: ["pro": Self.pro]) { scenario in
            try await scenario.publish("pro")
            let revision = try await scenario.world.definitions.revision()
            try await scenario.publish("pro")
            #expect(try await scenario.world.definitions.revision() == revision)
            #expect(try await scenario.world.count("walks") == 1)
        }
    }

    // S18.3
    @Test func `a segment that cannot be read stops nobody else`() async throws {
        try await Scenario.with(
            ["hello": flow("hello", .event(names: ["app.opened"]))], segments: ["pro": Self.pro]
        ) { scenario in
            try await scenario.publish("hello", "pro")
            try await scenario.world.run(
                "update journey.segment_versions set canonical = 'nonsense'")
            try await scenario.tell("app.opened", 1, plan("pro"))
            #expect(try await scenario.settle().failed.isEmpty)
            #expect(try await scenario.world.count("runs") == 1)
            #expect(scenario.cache.segmentFailures.count == 1)
        }
    }
}
