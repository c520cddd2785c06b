import JSON
import JourneyEngine
import JourneyModel
import Testing
import TimeZones
import WorkflowDefinitions

/// What Nuxie's executor does at one step, with the step's counterpart here. Every outlet leads to an exit
/// whose reason is the vector's step id.
@Suite struct ExecutorVectorTests {
    private func instant(_ json: JSONValue?) -> Instant {
        Instant(milliseconds: json?.integer ?? 0)
    }

    private func edge(_ outlets: JSONValue?, _ name: String) -> Edge {
        outlets?[name]?.string.map { .step(StepID($0)) } ?? .end
    }

    /// `Truthy` and `Compare` of event fields and booleans, as far as the suite has them.
    private func condition(_ json: JSONValue?) -> Condition {
        func value(_ json: JSONValue?) -> Value {
            let key = json?["key"]?.string ?? ""
            switch json?["type"]?.string {
            case "Event.Field":
                return .reference(JSONPointer(tokens: ["event", key]), default: nil)
            case "Response.Field":
                return .reference(JSONPointer(tokens: ["customer", key]), default: nil)
            default: return .literal(json?["value"] ?? .null)
            }
        }
        if json?["type"]?.string == "Truthy" { return .truthy(value(json?["value"])) }
        return .compare(.eq, value(json?["left"]), value(json?["right"]))
    }

    private func branch(_ action: JSONValue?, _ outlets: JSONValue?) -> Step.Action {
        .branch(
            Branch(
                branches: (action?["branches"]?.array ?? []).map {
                    let id = $0["id"]?.string ?? ""
                    return Branch.Arm(
                        id: id, condition: condition($0["condition"]), next: edge(outlets, id))
                }, otherwise: edge(outlets, "default")))
    }

    private func wait(_ action: JSONValue?, _ outlets: JSONValue?) -> Step.Action {
        let condition = condition(action?["condition"])
        let cause: WaitUntil.Branch.Cause =
            if let name = action?["trigger"]?["eventName"]?.string {
                .event(EventMatch(names: [name], condition: condition))
            } else {
                .condition(condition)
            }
        return .waitUntil(
            WaitUntil(
                branches: [
                    WaitUntil.Branch(
                        id: "satisfied", cause: cause, next: edge(outlets, "satisfied"))
                ],
                timeout: .duration(.milliseconds(action?["maxTimeMs"]?.integer ?? 0)),
                onTimeout: edge(outlets, "timeout")))
    }

    private func action(_ step: JSONValue?) throws -> Step.Action {
        let action = step?["action"]
        let outlets = step?["outlets"]
        switch action?["type"]?.string {
        case "condition": return branch(action, outlets)
        case "wait_until": return wait(action, outlets)
        case "experiment":
            return .experiment(
                ExperimentStep(
                    experiment: ExperimentID(action?["experimentId"]?.string ?? ""),
                    variants: (action?["variants"]?.array ?? []).map {
                        let id = $0["id"]?.string ?? ""
                        return ExperimentStep.Variant(id: id, next: edge(outlets, id))
                    }))
        case "time_window":
            return .timeWindow(
                TimeWindow(
                    window: DailyWindow(
                        start: try #require(LocalTime(action?["startTime"]?.string ?? "")),
                        end: try #require(LocalTime(action?["endTime"]?.string ?? ""))),
                    timezone: action?["timezone"]?["identifier"]?.string,
                    next: edge(outlets, "inside")))
        case "delay":
            return .delay(
                Delay(
                    length: .duration(.milliseconds(action?["durationMs"]?.integer ?? 0)),
                    next: edge(outlets, "next")))
        case nil: return .exit(reason: step?["outcome"]?.string)
        default:
            return .action(
                ActionStep(tool: .log, parameters: .object([]), next: edge(outlets, "completed")))
        }
    }

    private func experiments(_ step: JSONValue?) -> [ExperimentDefinition] {
        guard let id = step?["action"]?["experimentId"]?.string else { return [] }
        let variants = step?["action"]?["variants"]?.array ?? []
        return [
            ExperimentDefinition(
                id: ExperimentID(id),
                variants: variants.map {
                    .init(
                        id: $0["id"]?.string ?? "", weight: 100 / variants.count,
                        isHoldout: $0["isHoldout"]?.bool ?? false)
                })
        ]
    }

    /// The run as the vector leaves it; where it has a checkpoint, entered at the checkpoint's anchor.
    private func play(_ row: JSONValue, _ suite: JSONValue) throws -> EngineWorld {
        let step = row["step"]
        let id = StepID(step?["id"]?.string ?? "")
        let exits = (step?["outlets"]?.object ?? JSONObject()).compactMap(\.value.string)
        let steps =
            [Step(id: id, action: try action(step))]
            + exits.map { Step(id: StepID($0), action: .exit(reason: $0)) }
        let now = instant(row["nowMillis"])
        let checkpoint = row["checkpoint"]
        var facts = Facts(
            attributes: JSONObject(), now: checkpoint.map { instant($0["anchorAtMillis"]) } ?? now)
        for (experiment, assigned) in suite["assignments"]?.object ?? JSONObject() {
            facts.assignments[experiment] = assigned["variantId"]?.string
        }
        var world = EngineWorld(steps, experiments: experiments(step), facts: facts)
        guard checkpoint != nil else { return world }
        world.facts.now = now
        if let event = row["signal"]?["event"] {
            world.give(
                EngineWorld.event(
                    event["name"]?.string ?? "", at: instant(event["occurredAtMillis"]),
                    received: now, properties: event["properties"]?.object ?? JSONObject()))
        } else if row["signal"]?["responsesChanged"]?.bool == true {
            world.facts.attributes = suite["context"]?["responses"]?.object ?? JSONObject()
            world.look(at: now)
        } else {
            world.fire(at: now)
        }
        return world
    }

    @Test func `steps do what the public vectors say`() throws {
        guard let folder = ConformanceFolder("nuxie/newer") else {
            return
        }
        let suite = try folder.json("executor-controls.json")
        var deviations = Deviations([
            "unassigned-experiment-uses-first-variant":
                "who is not assigned yet is assigned by lot, at exposure and for ever (S14)"
        ])
        let rows = suite["cases"]?.array ?? []
        #expect(rows.count == 15)
        for row in rows {
            let name = row["id"]?.string ?? ""
            let world = try play(row, suite)
            let expected = row["expected"]
            if deviations.passesBy(name) {
                // The lot may fall on the first variant too.
                #expect(["a", "b"].contains(world.standing))
                continue
            }
            let stands = expected?["stepId"]?.string ?? expected?["outcome"]?.string
            deviations.check(name, world.standing, stands ?? "")
            if let wakeAt = expected?["wakeAtMillis"] {
                #expect(world.run.position?.due == instant(wakeAt), "\(name)")
                #expect(
                    world.run.position?.enteredAt == instant(expected?["anchorAtMillis"]),
                    "\(name)")
            }
            if let bound = expected?["event"]?.object {
                var event = world.run.bound
                event["meta"] = nil
                #expect(event == bound, "\(name)")
            }
        }
        deviations.finish()
    }
}
