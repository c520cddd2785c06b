import JSON
import JourneyEngine
import JourneyModel
import Testing
import TimeZones
import WorkflowDefinitions

/// What Nuxie's device and server must decide alike: windows, splits, invocation ids.
@Suite struct CrossPlaneVectorTests {
    @Test func `windows are open and open next as the public vectors say`() throws {
        guard
            let folder = ConformanceFolder("nuxie/ios/journeys/time-window")
        else { return }
        let vectors = try folder.json("cross-plane.json")["vectors"]?.array ?? []
        #expect(vectors.count == 8)
        for vector in vectors {
            let start = LocalTime(vector["startTime"]?.string ?? "")
            let end = LocalTime(vector["endTime"]?.string ?? "")
            guard let start, let end else {
                #expect(vector["decision"] == "malformed")
                continue
            }
            // Their days count from Sunday, 0.
            let days = vector["daysOfWeek"]?.array?.compactMap(\.integer).compactMap {
                Weekday(iso: $0 == 0 ? 7 : Int($0))
            }
            let window = DailyWindow(
                start: start, end: end, days: Set(days ?? Weekday.allCases))
            let now = try #require(vector["now"]?.string.flatMap { Instant($0) })
            let state = window.state(at: now, in: .utc)
            #expect(state.isOpen == (vector["decision"] == "in_window"), "\(vector)")
            #expect(
                state.opensAt == vector["until"]?.string.flatMap { Instant($0) }, "\(vector)")
        }
    }

    @Test func `splits are resolved as the public vectors say`() throws {
        guard
            let folder = ConformanceFolder("nuxie/ios/journeys/experiment-resolution")
        else { return }
        let suite = try folder.json("cross-plane.json")
        let ids = (suite["variantIds"]?.array ?? []).compactMap(\.string)
        var deviations = Deviations([
            "fallback:no_assignment":
                "who is not assigned yet is assigned by lot; there is no fallback (S14)"
        ])
        let vectors = suite["vectors"]?.array ?? []
        #expect(vectors.count == 3)
        for vector in vectors {
            let experiment = ExperimentDefinition(
                id: ExperimentID("checkout"),
                variants: ids.map { .init(id: $0, weight: 100 / ids.count) })
            let split = Step(
                id: StepID("split"),
                action: .experiment(
                    ExperimentStep(
                        experiment: experiment.id,
                        variants: ids.map { .init(id: $0, next: .step(StepID($0))) })))
            var facts = Facts(attributes: JSONObject(), now: Instant(milliseconds: 0))
            facts.assignments["checkout"] = vector["assignment"]?["variantKey"]?.string
            let world = EngineWorld(
                [split] + ids.map { Step(id: StepID($0), action: .exit(reason: $0)) },
                experiments: [experiment], facts: facts)
            let failed = vector["errorAssignedVariantKey"] != nil
            let exposure = vector["exposure"]?.string ?? ""
            deviations.check(
                exposure, world.standing,
                failed ? "missing_variant" : vector["variantId"]?.string ?? "")
            #expect(world.run.exposed.isEmpty == failed)
        }
        deviations.finish()
    }

    @Test func `invocation ids are those of the public vectors`() throws {
        guard let folder = ConformanceFolder("nuxie/ios/journeys/effects")
        else { return }
        let suite = try folder.json("round-trip.json")
        let step = StepID(suite["nodeId"]?.string ?? "")
        let world = EngineWorld(
            [
                Step(
                    id: step,
                    action: .action(ActionStep(tool: .log, parameters: .object([]), next: .end)))
            ],
            facts: Facts(attributes: JSONObject(), now: Instant(milliseconds: 0)),
            id: suite["journeyId"]?.string ?? "")
        guard case .effect(let invocation, _)? = world.run.position?.waiting else {
            Issue.record("no effect was requested")
            return
        }
        #expect(invocation.text == suite["invocationId"]?.string)
        #expect(suite["attempt"]?.integer == 0)
    }
}
