import JSON
import JourneyModel
import TestMaterial
import Testing
import TimeZones
import WorkflowDefinitions

/// The fixture that holds everything the language has, with what stands beside it.
enum Whole {
    static let folder = "Tests/Fixtures/workflows/whole/"

    static func text(_ path: String) throws -> JSONValue {
        try JSONParser.parse(try PackageFiles.bytes(of: folder + path))
    }

    static func context() throws -> DefinitionContext {
        let events = EventDeclarations.read(
            try PackageFiles.bytes(of: folder + "events.json"), file: "events.json")
        let experiment = WorkflowParser.readExperiment(
            try PackageFiles.bytes(of: folder + "experiments/offer.json"), file: "offer.json")
        let offer = try #require(experiment.definition)
        return DefinitionContext(
            events: events.declarations, segments: [SegmentID("lapsed"), SegmentID("staff")],
            experiments: [offer.id: offer],
            workflows: [WorkflowID("helper"): true, WorkflowID("whole"): false],
            zones: ["Europe/Berlin", "America/New_York", "Asia/Tokyo"])
    }

    static func read(_ definition: JSONValue) throws -> ParseOutcome {
        WorkflowParser.read(
            Array(definition.pretty.utf8), file: "Workflows/whole.json", context: try context())
    }
}

struct WholeLanguageTests {
    private func whole() throws -> PublishedWorkflow {
        let outcome = try Whole.read(try Whole.text("whole.json"))
        for diagnostic in outcome.diagnostics { Issue.record("\(diagnostic)") }
        return try #require(outcome.published)
    }

    private func action(_ step: String, of definition: WorkflowDefinition) throws -> ActionStep {
        guard case .action(let action)? = definition.steps[StepID(step)]?.action else {
            throw MissingStep(step: step)
        }
        return action
    }

    private struct MissingStep: Error { var step: String }

    @Test func `every part of the language is read, and read back from what is published`() throws {
        let published = try whole()
        #expect(published.definition.steps.count == 13)
        #expect(try WorkflowParser.load(canonical: published.canonical) == published)
        let types = Set(published.definition.steps.values.map(\.type))
        #expect(types.count == 11)
    }

    /// Whatever optional part is left out, what is published is read back as it was.
    @Test func `every part that may be left out can be`() throws {
        let document = try JSONParser.parseDocument(
            try PackageFiles.bytes(of: Whole.folder + "whole.json"))
        var accepted = 0
        for pointer in document.offsets.keys.map(\.description).sorted() where !pointer.isEmpty {
            let outcome = try Whole.read(document.value.setting(pointer, to: nil))
            guard let published = outcome.published else { continue }
            accepted += 1
            let loaded = try WorkflowParser.load(canonical: published.canonical)
            #expect(loaded == published, "without \(pointer)")
            let again = try Whole.read(try JSONParser.parse(published.canonical)).diagnostics
                .filter { $0.severity == .error && $0.pointer.description != "/experiments" }
            #expect(again.isEmpty, "without \(pointer): \(again)")
        }
        #expect(accepted >= 60)
    }

    /// Parts of which one does, or whose emptiness says something.
    @Test(arguments: [
        ("/steps/keep", #"{"type": "update_customer", "unset": ["at_risk"], "next": "more"}"#),
        ("/steps/keep", #"{"type": "update_customer", "set": {"a": []}, "next": "more"}"#),
        ("/steps/sent/properties", "{}"), ("/tags", "[]"), ("/entry/trigger/minus", #""PT0S""#),
        ("/steps/tell/gap", #""PT0S""#), ("/steps/ask/with/blocks", "[]"),
        ("/steps/tell/with/headers", "{}"), ("/steps/keep/set", #"{"a": {"literal": {"ref": 1}}}"#),
        ("/entry/trigger", #"{"api": true}"#), ("/goal", #"{"segment_leave": "staff"}"#),
        ("/goal", #"{"if": {"feature": {"id": "pro"}}}"#),
        ("/goal", #"{"event": "trial.converted", "correlate": false}"#),
        ("/entry/trigger", #"{"event": "trial.started"}"#),
        ("/entry/trigger/plus", #""PT0S""#), ("/entry/key", #"{"ref": "/customer/team"}"#),
        ("/steps/tell/retry", "{}"), ("/limits", "{}"), ("/send", "{}"),
        (
            "/steps/hours",
            #"{"type": "time_window", "start": "00:00", "end": "00:00", "next": "split"}"#
        ),
    ])
    func `unusual parts are read back from what is published`(_ pointer: String, _ json: String)
        throws
    {
        let outcome = try Whole.read(try Whole.text("whole.json").setting(pointer, to: value(json)))
        if let published = outcome.published {
            #expect(try WorkflowParser.load(canonical: published.canonical) == published)
        } else {
            // What they refer to may be gone; nothing else may be wrong.
            let codes = Set(outcome.diagnostics.map(\.code))
            #expect(
                codes.isSubset(of: [.pointer, .unused, .form, .name]), "\(outcome.diagnostics)")
        }
    }

    @Test func `a date entry keeps its offset, hour and lateness`() throws {
        let definition = try whole().definition
        guard case .date(let date) = definition.entry.trigger else {
            Issue.record("the trigger is no date")
            return
        }
        #expect(date.offset == .seconds(-3 * 86_400))
        #expect(date.at == LocalTime(hour: 9, minute: 0))
        #expect(date.late == .seconds(7_200))
        #expect(date.watchesSubscriptions)
        #expect(definition.entry.oncePer != nil)
        #expect(definition.exitPolicy.endsOnGoal && definition.exitPolicy.endsOnStopMatching)
    }

    @Test func `send gives every action what it does not say itself`() throws {
        let definition = try whole().definition
        let ask = try action("ask", of: definition)
        #expect(ask.window?.window.start == LocalTime(hour: 9, minute: 0))
        #expect(ask.window?.window.days.count == 5)
        #expect(ask.window?.timezone == "America/New_York")
        #expect(ask.gap == .seconds(86_400))
        #expect(ask.deadline == .seconds(2 * 86_400))
        #expect(ask.onFailed == .step(StepID("failed")))
        #expect(ask.onTimeout == .end)
        let tell = try action("tell", of: definition)
        #expect(tell.gap == .zero)
        #expect(tell.window?.window.start == tell.window?.window.end)
        #expect(tell.deadline == .seconds(3_600))
        #expect(tell.onFailed == .end)
        // The step that the default leads to does not lead to itself.
        #expect(try action("failed", of: definition).onFailed == nil)
    }

    @Test func `an experiment is copied in, in its own order`() throws {
        let published = try whole()
        let offer = try #require(published.definition.experiments[ExperimentID("offer")])
        #expect(offer.variants.map(\.id) == ["left-alone", "discount", "plain"])
        #expect(offer.variants.map(\.weight) == [10, 45, 45])
        guard case .experiment(let step)? = published.definition.steps[StepID("split")]?.action
        else {
            Issue.record("split is no experiment")
            return
        }
        #expect(step.variants.map(\.id) == ["left-alone", "discount", "plain"])
        var context = try Whole.context()
        context.experiments[offer.id]?.variants[0].weight = 0
        context.experiments[offer.id]?.variants[1].weight = 55
        let changed = WorkflowParser.read(
            try PackageFiles.bytes(of: Whole.folder + "whole.json"), file: "whole.json",
            context: context)
        #expect(try #require(changed.published).digest != published.digest)
    }

    @Test func `a definition says what it needs`() throws {
        let needs = try whole().definition.needs
        #expect(needs.features == ["pro", "export"])
        #expect(needs.segments == [SegmentID("lapsed"), SegmentID("staff")])
        #expect(needs.experiments == [ExperimentID("offer")])
        #expect(needs.events == ["subscription.revoked", "checkout.opened"])
        #expect(
            needs.attributes.map(\.description).sorted() == [
                "/customer/blocked", "/customer/first_name", "/customer/plan", "/customer/team",
            ])
        #expect(needs.readsSubscription && needs.readsSubscriptions)
        #expect(
            needs.histories == [
                .init(
                    names: ["checkout.opened"],
                    since: .instant(.literal("2026-01-01T00:00:00Z"))),
                .init(names: ["purchase.completed"], since: .run),
            ])
    }

    @Test func `a segment is read, and read back from what is published`() throws {
        let outcome = WorkflowParser.readSegment(
            try PackageFiles.bytes(of: Whole.folder + "segments/lapsed.json"), file: "lapsed.json",
            context: try Whole.context())
        #expect(outcome.diagnostics.isEmpty, "\(outcome.diagnostics)")
        let segment = try #require(outcome.definition)
        #expect(try WorkflowParser.loadSegment(canonical: segment.canonical) == segment)
        #expect(segment.definition.needs.segments == [SegmentID("staff")])
        #expect(segment.definition.needs.readsSubscriptions)
        #expect(!segment.definition.needs.readsSubscription)
    }

    @Test func `segments that ask for one another are found, each circle once`() {
        func segment(_ id: String, asks: [String]) -> SegmentDefinition {
            SegmentDefinition(
                id: SegmentID(id),
                condition: .all(asks.map { .segment(SegmentID($0), .member(true)) }))
        }
        let circles = WorkflowParser.circles(among: [
            segment("a", asks: ["b", "x"]), segment("b", asks: ["c"]), segment("c", asks: ["a"]),
            segment("d", asks: ["a", "e"]), segment("e", asks: []),
        ])
        #expect(circles.map { $0.map(\.text) } == [["a", "b", "c"]])
    }

    @Test func `an experiment keeps its variants in their order`() throws {
        let offer = try #require(try Whole.context().experiments[ExperimentID("offer")])
        var next = offer
        next.variants.append(.init(id: "new", weight: 0))
        #expect(next.complaint(replacing: offer) == nil)
        #expect(offer.complaint(replacing: next) != nil)
        next.variants.swapAt(0, 1)
        #expect(next.complaint(replacing: offer)?.contains("keep their ids") == true)
    }
}
