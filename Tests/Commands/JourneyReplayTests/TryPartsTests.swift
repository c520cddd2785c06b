import JSON
import TestSupport
import Testing

@Suite struct TryPartsTests {
    private func run(
        _ verb: String, _ part: String, scope: String = "{}", _ more: String...
    ) async throws -> Answer {
        try await TemporaryFolder.with { folder in
            let part = write(part, to: "part.json", in: folder)
            let scope = write(scope, to: "scope.json", in: folder)
            return try await ReplayWorld().run(["try", verb, part, "--scope", scope] + more)
        }
    }

    @Test func `a condition tells its result and the leaves that decided`() async throws {
        let answer = try await run(
            "condition", #"{"all": [{"eq": [{"ref": "/event/n"}, 9007199254740993]}]}"#,
            scope: #"{"event": {"n": 9007199254740993}}"#)
        let json = try JSONParser.parse(answer.output)
        #expect(answer.code == 0)
        #expect(json["result"]?.string == "true")
        #expect(json["because"]?.array?.count == 1)
        #expect(answer.output.contains("9007199254740993"))
        #expect(json["until"] == nil)
    }

    @Test func `a condition asks events, segments, features and subscriptions of the scope file`()
        async throws
    {
        let condition = #"""
            {"all": [
              {"events": {"event": "paid", "within": "P7D", "count": {"gte": 2}}},
              {"segment": {"id": "vip", "entered_within": "P2D"}},
              {"feature": {"id": "export", "balance": {"gte": 3}}},
              {"subscription": {"eq": [{"ref": "/subscription/status"}, "active"]}}]}
            """#
        let scope = #"""
            {"now": "2026-03-08T00:00:00Z",
             "events": [{"event": "paid", "occurred_at": "2026-03-01T00:00:00Z"},
                        {"event": "paid", "occurred_at": "2026-03-07T00:00:00Z"}],
             "segments": {"vip": {"member": true, "entered_at": "2026-03-07T00:00:00Z"}},
             "features": {"export": {"allowed": true, "balance": 5}},
             "subscriptions": [{"status": "expired"}, {"status": "active"}]}
            """#
        let answer = try await run("condition", condition, scope: scope)
        #expect(answer.code == 0, "\(answer.error)")
        let json = try JSONParser.parse(answer.output)
        #expect(json["result"]?.string == "true")
        #expect(json["until"]?.string == "2026-03-08T00:00:00.001Z")
        let bad = try await run("condition", condition, scope: #"{"events": [{"event": "paid"}]}"#)
        #expect(bad.code == 2)
        #expect(bad.error.contains("events/0/occurred_at"))
    }

    @Test func `a window tells whether it is open and when that changes`() async throws {
        func run(_ window: String, _ more: String...) async throws -> Answer {
            try await TemporaryFolder.with { folder in
                let file = write(window, to: "window.json", in: folder)
                return try await ReplayWorld().run(["try", "window", file] + more)
            }
        }
        let quiet = #"{"start": "09:00", "end": "17:00", "days": ["mon"], "timezone": "Etc/UTC"}"#
        let inside = try await run(quiet, "--at", "2026-03-02T10:00:00Z")
        #expect(
            try JSONParser.parse(inside.output)
                == ["inside": true, "closes_at": "2026-03-02T17:00:00.000Z"])
        let berlin = try await run(
            quiet, "--at", "2026-03-29T00:30:00Z", "--timezone", "Europe/Berlin")
        #expect(
            try JSONParser.parse(berlin.output)
                == ["inside": false, "opens_at": "2026-03-30T07:00:00.000Z"])
        for (window, word) in [
            (#"{"start": "9:00", "end": "17:00"}"#, "start"),
            (#"{"start": "09:00", "end": "17:00", "day": []}"#, "days"),
            (#"{"start": "09:00", "end": "17:00", "days": ["Monday"]}"#, "Monday"), ("3", "object"),
        ] {
            let refused = try await run(window, "--at", "2026-03-02T10:00:00Z")
            #expect(refused.code == 2)
            #expect(refused.error.contains(word))
        }
    }

    @Test func `what is missing makes a condition unknown`() async throws {
        let answer = try await run("condition", #"{"lt": [{"ref": "/customer/days"}, 3]}"#)
        let json = try JSONParser.parse(answer.output)
        #expect(json["result"]?.string == "unknown")
    }

    @Test func `a condition over the clock says until when it holds`() async throws {
        let condition = #"{"lt": [{"ref": "/now"}, {"ref": "/event/ends"}]}"#
        let scope = #"{"event": {"ends": "2026-03-09T00:00:00Z"}, "now": "2026-03-01T00:00:00Z"}"#
        let before = try JSONParser.parse(
            try await run("condition", condition, scope: scope).output)
        #expect(before["result"]?.string == "true")
        #expect(before["until"]?.string == "2026-03-09T00:00:00.000Z")
        let after = try JSONParser.parse(
            try await run("condition", condition, scope: scope, "--at", "2026-03-10T00:00:00Z")
                .output)
        #expect(after["result"]?.string == "false")
    }

    @Test func `a condition that cannot be read is explained with its place`() async throws {
        let answer = try await run("condition", "{\n \"eqq\": [1, 1]}")
        #expect(answer.code == 1)
        #expect(answer.output.isEmpty)
        #expect(answer.error.contains("part.json:2:2: error:"))
        #expect(answer.error.contains("Did you mean \"eq\"?"))
    }

    @Test func `a pointer to nothing a scope has is refused`() async throws {
        let answer = try await run("condition", #"{"exists": {"ref": "/custmer/email"}}"#)
        #expect(answer.code == 1)
        #expect(answer.error.contains("/customer/email"))
    }

    @Test func `a value is known or not`() async throws {
        let known = try JSONParser.parse(
            try await run(
                "value", #"{"time": {"ref": "/event/at"}, "plus": "P1D"}"#,
                scope: #"{"event": {"at": "2026-03-01T00:00:00Z"}}"#
            ).output)
        #expect(known["known"]?.bool == true)
        #expect(known["value"]?.string == "2026-03-02T00:00:00.000Z")
        let unknown = try JSONParser.parse(
            try await run("value", #"{"ref": "/customer/email"}"#).output)
        #expect(unknown["known"]?.bool == false)
        #expect(unknown["value"] == nil)
    }

    @Test func `a template prints its bytes and nothing more`() async throws {
        let answer = try await run(
            "template", "Hi {{customer.name}}", scope: #"{"customer": {"name": "<Ada>"}}"#,
            "--escape", "html")
        #expect(answer.code == 0)
        #expect(answer.output == "Hi &lt;Ada&gt;")
    }

    @Test func `a template reads any name, any kind of scope, and partials`() async throws {
        #expect(try await run("template", "{{a}}", scope: #"{"a": 1.50}"#).output == "1.50")
        #expect(try await run("template", "{{.}}", scope: "\"x\"").output == "x")
        try await TemporaryFolder.with { folder in
            let partials = write(#"{"p": "[{{a}}]"}"#, to: "partials.json", in: folder)
            let answer = try await run(
                "template", "{{>p}}", scope: #"{"a": 1}"#, "--partials", partials)
            #expect(answer.output == "[1]", "\(answer.error)")
        }
    }

    @Test func `a missing variable fails unless empty is asked for`() async throws {
        let strict = try await run("template", "Hi {{customer.name}}!")
        #expect(strict.code == 1)
        #expect(strict.error.contains("customer.name"))
        let lenient = try await run("template", "Hi {{customer.name}}!", "--missing", "empty")
        #expect(lenient.output == "Hi !")
    }

    @Test(arguments: [
        ("[1]", "write an object"), (#"{"custmer": {}}"#, "did you mean \"customer\"?"),
        (#"{"now": "soon"}"#, "is no time"), (#"{"event": 1}"#, "write an object"),
        ("{", "scope.json:1:"),
    ])
    func `a scope file that cannot be used is explained`(
        scope: String, sentence: String
    ) async throws {
        let answer = try await run("value", "1", scope: scope)
        #expect(answer.code == 2)
        #expect(answer.error.contains(sentence), "\(answer.error)")
    }

    private func action(
        _ step: String, _ scope: String, _ words: String..., config: String = "{}"
    ) async throws -> Answer {
        try await TemporaryFolder.with { folder in
            let workflow = write(
                #"""
                {"dsl": 1, "id": "tell", "kind": "automation",
                 "entry": {"trigger": {"event": "trial.started"}}, "start": "say",
                 "partials": {"name": "{{customer.first_name}}"},
                 "steps": {
                   "say": {"type": "action", "tool": "http", "account": "crm", "next": "mark",
                     "with": {"path": {"template": "/people/{{customer.id}}"},
                              "json": {"text": {"template": "Hi {{> name}}"}, "n": {"ref": "/event/price"}}}},
                   "mark": {"type": "milestone", "milestone": "said", "next": "end"}}}
                """#, to: "tell.json", in: folder)
            let scope = write(scope, to: "scope.json", in: folder)
            let config = write(config, to: "config.json", in: folder)
            return try await ReplayWorld().run(
                ["try", "action", workflow, step, "--scope", scope, "--config", config] + words)
        }
    }

    @Test func `an action is rendered as it would be sent`() async throws {
        let scope = #"{"customer": {"first_name": "Ada", "id": "a b"}, "event": {"price": 10.50}}"#
        let answer = try await action("say", scope)
        #expect(answer.code == 0, "\(answer.error)")
        let json = try JSONParser.parse(answer.output)
        #expect(json["tool"]?.string == "http")
        #expect(json["account"]?.string == "crm")
        #expect(json["request"]?["path"]?.string == "/people/a%20b")
        #expect(json["request"]?["json"]?["text"]?.string == "Hi Ada")
        #expect(answer.output.contains("10.50"))
        let missing = try await action("say", #"{"customer": {"first_name": "Ada", "id": "a"}}"#)
        #expect(missing.code == 1)
        #expect(missing.error.contains("/event/price"), "\(missing.error)")
        for (step, code, words) in [("sy", 4 as Int32, "say"), ("mark", 2, "type milestone")] {
            let answer = try await action(step, scope)
            #expect(answer.code == code)
            #expect(answer.error.contains(words), "\(answer.error)")
        }
    }

    @Test func `an action goes to a test account only when it is asked for and able`() async throws
    {
        let scope = #"{"customer": {"first_name": "Ada", "id": "a"}, "event": {"price": 1}}"#
        let config = #"""
            {"database": {"url": "postgres://nobody@127.0.0.1:1/none"}, "allow_literal_secrets": true,
             "accounts": {"test": {"tool": "http", "base_url": "http://127.0.0.1:1", "allow_private": true},
                          "chat": {"tool": "slack", "url": "https://hooks.example/x"}}}
            """#
        let refused = try await action("say", scope, "--send-to", "test", "--yes", config: config)
        #expect(refused.code == 1, "\(refused.error)")
        let json = try? JSONParser.parse(refused.output)
        #expect(json?["sent_to"]?.string == "test")
        #expect(json?["outcome"]?.string == "network")
        let unasked = try await action("say", scope, "--send-to", "test", config: config)
        #expect(unasked.code == 6, "\(unasked.error)")
        let other = try await action("say", scope, "--send-to", "chat", "--yes", config: config)
        #expect(other.code == 2)
        #expect(other.error.contains("an account for slack"), "\(other.error)")
        #expect(
            try await action("say", scope, "--send-to", "tst", "--yes", config: config).code == 4)
    }
}
