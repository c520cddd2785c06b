import JSON
import JourneyModel
import Testing
import WorkflowDefinitions

// Where diagnostics stand, that all of them are told, and what is told of text that is no JSON.
struct DiagnosticTests {
    private func diagnostics(_ text: String, file: String = "a.json") -> [Diagnostic] {
        WorkflowParser.read(Array(text.utf8), file: file, events: sampleEvents).diagnostics
    }

    @Test func `all problems are told at once, in the order of the file, with exact places`() {
        let text = """
            {
              "dsl": 1, "id": "a", "kind": "jorney",
              "entry": {"trigger": {"event": "trial.strated"}},
              "start": "one",
              "steps": {
                "one": {"type": "delay", "for": "P1M", "next": "tow"},
                "two": {"type": "exit", "reson": "é"},
                "é": {"type": "exit"}, "three": {"type": "exti"}
              }
            }
            """
        let told = diagnostics(text).map { "\($0.line):\($0.column) \($0.pointer)" }
        #expect(
            told == [
                "2:24 /kind", "3:25 /entry/trigger/event", "6:30 /steps/one/for",
                "6:44 /steps/one/next", "7:29 /steps/two/reson", "8:5 /steps/é",
                "8:38 /steps/three/type",
            ])
    }

    @Test func `a column counts characters, not bytes`() {
        let text = "{\"dsl\": 1, \"name\": \"äöü\", \"nmae\": 1}"
        let unknown = diagnostics(text).first { $0.pointer.description == "/nmae" }
        #expect(unknown?.line == 1)
        #expect(unknown?.column == 27)
    }

    @Test func `an entry of an array is pointed at itself`() {
        let text = """
            {"tags": [
              "one", 2]}
            """
        let wrong = diagnostics(text).first { $0.pointer.description == "/tags/1" }
        #expect(wrong.map { [$0.line, $0.column] } == [2, 10])
    }

    @Test func `a diagnostic is printed as editors read it`() {
        let outcome = read(value(sample).setting("/kind", to: "jorney"))
        #expect(
            outcome.diagnostics.map(\.description) == [
                "Workflows/sample.json:4:3: error: The kind is journey or automation, not \"jorney\"."
                    + " Did you mean \"journey\"? (at /kind)"
            ])
    }

    @Test func `every key that stands twice is told beside the other problems`() {
        let text = """
            {
              "dsl": 1, "tags": ["a", "{\\"", "b"],
              "dsl": 1,
              "exits": [{}, {"if": {}, "\\u0069f": {"x": 1, "y": [1], "x": 2}, "if": 3}]
            }
            """
        let told = diagnostics(text)
        let twins = told.filter { $0.sentence.contains("stands twice in one object") }
        #expect(
            twins.map { "\($0.line):\($0.column) \($0.pointer)" } == [
                "3:3 /dsl", "4:28 /exits/1/if", "4:58 /exits/1/if/x", "4:67 /exits/1/if",
            ])
        #expect(told.contains { $0.sentence.contains("needs \"id\"") })
    }

    @Test(arguments: [
        ("", 1, 1, "ends too early"), ("{\n  \"dsl\": 1,\n}", 3, 1, "not JSON"),
        ("{\n \"a\": tru }", 2, 10, "not JSON"), ("{} {}", 1, 4, "follows"),
        ("{\"a\": \"\\u0000\"}", 1, 14, "cannot be stored"),
    ])
    func `text that is no JSON is told with its place`(
        _ text: String, _ line: Int, _ column: Int, _ phrase: String
    ) {
        let told = diagnostics(text)
        #expect(told.count == 1)
        #expect(told.first.map { [$0.line, $0.column] } == [line, column], "\(told)")
        #expect(told.first?.sentence.contains(phrase) == true, "\(told)")
    }

    @Test func `a file of noise is cut to two hundred problems`() {
        let keys = (0..<400).map { "\"k\($0)\": 1" }.joined(separator: ", ")
        let told = diagnostics("{\(keys)}")
        #expect(told.count == 201)
        #expect(told.last?.sentence.contains("more problems follow") == true)
    }

    @Test func `a file past the limit is refused unread`() {
        let bytes = [UInt8](repeating: 0x20, count: WorkflowParser.longestFile + 1)
        let outcome = WorkflowParser.read(bytes, file: "a.json", events: sampleEvents)
        #expect(outcome.diagnostics.map(\.sentence).joined().contains("at most 1048576"))
    }

    @Test func `a doubtful environment is only a warning`() {
        let outcome = read(value(sample).setting("/environments", to: ["prodution"]))
        #expect(outcome.published != nil)
        #expect(outcome.diagnostics.map(\.severity) == [.warning])
        #expect(outcome.diagnostics.first?.fix == "production")
    }

    @Test func `an automation holds nothing that waits`() {
        let told = read(value(sample).setting("/kind", to: "automation")).diagnostics
        #expect(
            told.map(\.pointer.description) == ["/steps/pause/type", "/steps/wait/type"])
        #expect(told.allSatisfy { $0.sentence.contains("An automation holds nothing that waits") })
    }

    @Test func `on_goal needs a goal`() {
        let definition = value(sample).setting("/goal", to: nil)
            .setting("/exit_policy", to: "on_goal")
        #expect(read(definition).diagnostics.map(\.pointer.description) == ["/exit_policy"])
    }

    @Test func `with the policy never a wait may name the goal's event`() {
        let definition = value(sample).setting("/exit_policy", to: "never")
            .setting("/steps/wait/branches/0/event", to: "trial.converted")
        #expect(read(definition).diagnostics.isEmpty)
    }

    @Test(arguments: [("PT1M", true), ("PT59S", false)])
    func `a cycle needs a pause of a minute`(_ length: String, _ isValid: Bool) {
        let definition = value(sample).setting("/steps/pause/for", to: .string(length))
            .setting("/steps/say/next", to: "pause")
        let told = read(definition).diagnostics
        #expect(told.isEmpty == isValid, "\(told)")
        #expect(told.allSatisfy { $0.sentence.contains("pause → wait → choose") }, "\(told)")
    }

    @Test func `a thousand steps are read without recursion`() {
        var steps = JSONObject()
        for index in 0..<1_000 {
            steps["s\(index)"] = [
                "type": "delay", "for": "PT1M", "next": .string("s\((index + 1) % 1_000)"),
            ]
        }
        let definition = value(sample).setting("/steps", to: .object(steps))
            .setting("/start", to: "s0")
        #expect(read(definition).diagnostics.isEmpty)
        steps["one-more"] = ["type": "exit"]
        let longer = read(definition.setting("/steps", to: .object(steps)))
        #expect(longer.diagnostics.map(\.sentence).joined().contains("1 to 1000 steps"))
    }

    @Test func `the event read is the one bound on the way to a step`() {
        // After the wait's first branch `/event` is a cancellation or still the trigger; a declared
        // property of the trigger stays known, one of no event on the way is refused.
        let known = value(sample).setting(
            "/steps/tell/with/json/product", to: ["ref": "/event/seen"])
        #expect(read(known).diagnostics.isEmpty)
        let only = known.setting("/steps/wait/branches/1", to: nil)
            .setting(
                "/steps/wait/branches",
                to: value(
                    "[{\"id\": \"c\", \"event\": \"trial.cancelled\", \"next\": \"choose\"}]")
            )
            .setting("/steps/wait/on_timeout", to: "end")
        #expect(
            read(only).diagnostics.map(\.pointer.description)
                == ["/steps/tell/with/json/product/ref"])
    }
}
