import JSON
import TestMaterial
import TestSupport
import Testing

@Suite struct ValidateTests {
    @Test func `the shipped workflows are without errors`() async throws {
        let answer = try await ReplayWorld().run("validate", PackageFiles.path("Workflows"))
        #expect(answer.code == 0, "\(answer.output)")
        #expect(answer.output.isEmpty)
        #expect(answer.error.contains("without errors"))
    }

    @Test func `every problem is printed with file, line and column, and ends with 1`() async throws
    {
        try await TemporaryFolder.with { folder in
            let file = write(
                "{\n  \"dsl\": 1,\n  \"id\": \"welcome\",\n  \"kindd\": \"journey\"\n}",
                to: "welcome.json", in: folder)
            let people = try await ReplayWorld().run("validate", file)
            #expect(people.code == 1)
            #expect(people.output.contains("\(file):4:3: error:"), "\(people.output)")
            #expect(people.output.contains("Did you mean \"kind\"?"))
            #expect(people.error.contains("mend them"))
            let machine = try await ReplayWorld().run("validate", folder, "-o", "json")
            let rows = try JSONParser.parse(machine.output).array ?? []
            #expect(machine.code == 1)
            let row = try #require(rows.first { $0["pointer"]?.string == "/kindd" })
            #expect(row["line"]?.integer == 4)
            #expect(row["column"]?.integer == 3)
            #expect(row["severity"]?.string == "error")
            #expect(row["fix"]?.string == "kind")
            #expect(row["code"]?.string == "unknown_key")
        }
    }

    @Test func `declarations are checked too, alone and in their folder`() async throws {
        try await TemporaryFolder.with { folder in
            let file = write(
                #"{"dsl": 1, "events": {"trial.mine": {}}}"#, to: "events.json", in: folder)
            for word in [file, folder] {
                let answer = try await ReplayWorld().run("validate", word)
                #expect(answer.code == 1)
                #expect(answer.output.contains("events.json:1:"))
            }
        }
    }

    @Test func `a folder without definitions ends with 4, a missing one with 1`() async throws {
        try await TemporaryFolder.with { folder in
            #expect(try await ReplayWorld().run("validate", folder).code == 4)
            let missing = try await ReplayWorld().run("validate", folder + "/absent")
            #expect(missing.code == 1)
            #expect(missing.error.contains("does not exist"))
        }
    }

    @Test func `the vocabulary is listed with its meanings`() async throws {
        let people = try await ReplayWorld().run("vocabulary")
        #expect(people.code == 0)
        #expect(people.output.contains("trial.started "))
        #expect(people.output.contains("a free trial began"))
        let names = try await ReplayWorld().run("vocabulary", "-o", "ids")
        #expect(names.output.hasPrefix("purchase.started\n"))
    }

    @Test func `a schema of each kind of file is printed`() async throws {
        for kind in ["workflow", "segment", "experiment", "events", "simulation"] {
            let answer = try await ReplayWorld().run("schema", kind)
            #expect(answer.code == 0)
            #expect(try JSONParser.parse(answer.output)["title"]?.string == kind)
        }
        let plain = try await ReplayWorld().run("schema")
        #expect(try JSONParser.parse(plain.output)["title"]?.string == "workflow")
        let wrong = try await ReplayWorld().run("schema", "workflwo")
        #expect(wrong.code == 2)
        #expect(wrong.error.contains("workflow, segment, experiment, events, simulation"))
    }
}
