import JSON
import JourneyModel
import Testing
import WorkflowDefinitions
import WorkflowDrawings

@Suite struct DrawingTests {
    private func definition() throws -> WorkflowDefinition {
        let text = """
            {"dsl": 1, "id": "win-back", "kind": "journey",
             "entry": {"trigger": {"event": "trial.cancelled"}, "key": "subscription"},
             "goal": {"event": "trial.converted", "within": "P30D"},
             "exits": [{"event": "subscription.refunded", "reason": "taken_back"}],
             "start": "think",
             "steps": {
               "think": {"type": "wait_until", "timeout": "P2D", "on_timeout": "ask", "note": "a <pause> & \\"more\\"",
                 "branches": [{"id": "back", "event": "trial.uncancelled", "next": "end"}]},
               "ask": {"type": "action", "tool": "http", "account": "crm", "with": {"path": "/ask"},
                 "next": "rest", "on_failed": "gone"},
               "rest": {"type": "delay", "for": "P1D", "next": "think"},
               "gone": {"type": "exit", "reason": "unreachable"}}}
            """
        let read = WorkflowParser.read(
            Array(text.utf8), file: "win-back.json", events: EventDeclarations())
        return try #require(read.published, "\(read.diagnostics)").definition
    }

    @Test func `the tree names a step that was drawn before and does not draw it again`() throws {
        let drawing = WorkflowDrawing(try definition())
        #expect(
            drawing.text(.ascii) == """
                win-back (journey)
                  goal: trial.converted within P30D, which ends the run
                  leaves (taken_back) on subscription.refunded
                  leaves (time_limit) after P90D

                enters: on trial.cancelled, a run a subscription, once
                think: waits for trial.uncancelled, at most P2D
                +- back -> end
                +- on_timeout -> ask: http crm /ask
                   +- next -> rest: waits P1D
                   |  next -> think (above)
                   +- on_failed -> gone: leaves: unreachable

                """)
    }

    @Test func `counts stand beside the steps, zero too`() throws {
        let text = WorkflowDrawing(try definition(), counts: [StepID("think"): 12]).text(.ascii)
        #expect(text.contains("think: waits for trial.uncancelled, at most P2D - 12 here"))
        #expect(text.contains("rest: waits P1D - 0 here"))
    }

    @Test func `every form has every step and every outlet`() throws {
        let definition = try definition()
        for form in WorkflowDrawing.Form.allCases {
            let text = WorkflowDrawing(definition).text(form)
            for step in definition.stepOrder {
                #expect(text.contains(step.text), "\(form) \(step)")
            }
            for outlet in ["back", "on_timeout", "on_failed"] {
                #expect(text.contains(outlet), "\(form) \(outlet)")
            }
            #expect(text.hasSuffix("\n"))
        }
    }

    @Test func `notes cannot break out of a picture`() throws {
        let svg = WorkflowDrawing(try definition()).text(.svg)
        #expect(svg.contains("a &lt;pause&gt; &amp; &quot;more&quot;"))
        #expect(!svg.contains("<pause>"))
        #expect(svg.components(of: "<g>") == svg.components(of: "</g>"))
        #expect(svg.components(of: "<path") == 1 + 6)
    }

    @Test func `Graphviz and Mermaid get one line an outlet`() throws {
        let definition = try definition()
        #expect(WorkflowDrawing(definition).text(.dot).components(of: " -> ") == 6)
        #expect(WorkflowDrawing(definition).text(.mermaid).components(of: " -->") == 6)
    }

    @Test func `a deep definition is drawn without a deep stack`() throws {
        var steps: [StepID: Step] = [:]
        let ids = (0..<5_000).map { StepID("s\($0)") }
        for (number, id) in ids.enumerated() {
            let next: Edge = number + 1 < ids.count ? .step(ids[number + 1]) : .end
            steps[id] = Step(id: id, action: .milestone(id: "m", next: next))
        }
        let long = WorkflowDefinition(
            id: WorkflowID("long"), kind: .journey,
            entry: Entry(trigger: .api, reentry: .everyTime), start: ids[0], steps: steps,
            stepOrder: ids)
        for form in WorkflowDrawing.Form.allCases {
            #expect(WorkflowDrawing(long).text(form).contains("s4999"))
        }
    }
}

extension String {
    fileprivate func components(of part: String) -> Int { ranges(of: part).count }
}
