import Configuration
import JSON
import Testing
import TimeZones

private enum Shape: String, CaseIterable {
    case round, square
}

@Suite struct ConfigurationReaderTests {
    @Test func `values of every kind are read`() {
        let text = """
            {"database": {"url": "postgres://", "pool": 8, "statement_timeout": "PT0.5S"},
             "on": true, "hosts": ["a", "b"], "raw": {"any": [1.50]}, "shape": "square", "none": null}
            """
        let found = reading(text) { reader in
            let database = reader.object("database")
            return [
                database.requiredString("url"),
                "\(database.integer("pool", in: 1...64, default: 1))",
                database.duration("statement_timeout", in: .zero ... .seconds(60), default: .zero)
                    .iso8601,
                "\(reader.bool("on", default: false))",
                "\(reader.stringArray("hosts") ?? [])", reader.value("raw")?.text ?? "",
                reader.choice("shape", default: Shape.round).rawValue,
                reader.string("none", default: "fallback"),
                "\(reader.integer("absent", in: 0...1) ?? -1)",
            ]
        }
        #expect(found.problems == [])
        #expect(
            found.value == [
                "postgres://", "8", "PT0.5S", "true", #"["a", "b"]"#, #"{"any":[1.50]}"#, "square",
                "fallback", "-1",
            ])
    }

    @Test func `all problems are told with their places in the order of the text`() {
        let text = """
            {
              "database": {"pool": 0, "statement_timeout": "P1M"},
              "datbase": 1,
              "on": "yes",
              "hosts": ["a", 2],
              "shape": "sqare",
              "listen": []
            }
            """
        let found = reading(text) { reader in
            let database = reader.object("database")
            _ = database.requiredString("url")
            _ = database.integer("pool", in: 1...64)
            _ = database.duration("statement_timeout", in: .zero ... .seconds(60))
            _ = reader.bool("on", default: false)
            _ = reader.stringArray("hosts")
            _ = reader.choice("shape", default: Shape.round)
            _ = reader.object("listen").string("ingest")
        }
        #expect(
            found.problems == [
                "/database/url (line 2, column 3): A text is needed here; set \"url\".",
                "/database/pool (line 2, column 16): The number must lie between 1 and 64.",
                "/database/statement_timeout (line 2, column 27): The duration \"P1M\" counts months, "
                    + "which have no fixed length; write days.",
                "/datbase (line 3, column 3): The key \"datbase\" is not known here.",
                "/on (line 4, column 3): True or false is needed here, not a string.",
                "/hosts/1 (line 5, column 18): A string is needed here, not a number.",
                "/shape (line 6, column 3): \"sqare\" is not one of round, square; did you mean "
                    + "\"square\"?",
                "/listen (line 7, column 3): An object is needed here, not an array.",
            ])
    }

    @Test func `an unknown key is told with the key it was meant to be`() {
        let found = reading(#"{"a": {"pol": 1, "grace_period": 2}}"#) { reader in
            let inner = reader.object("a")
            _ = inner.integer("pool", in: 0...9)
            _ = inner.integer("grace", in: 0...9)
        }
        #expect(
            found.problems == [
                "/a/pol (line 1, column 8): The key \"pol\" is not known here; did you mean \"pool\"?",
                "/a/grace_period (line 1, column 18): The key \"grace_period\" is not known here.",
            ])
    }

    @Test func `named objects and lists of objects are read one by one`() {
        let text = #"{"sources": {"x": {"n": 1}, "y": {"n": 2, "z": 0}}, "list": [{"n": 3}, 4]}"#
        let found = reading(text) { reader in
            for (_, source) in reader.objects("sources") { _ = source.integer("n", in: 0...9) }
            for item in reader.objectArray("list") { _ = item.integer("n", in: 0...9) }
            _ = reader.objects("absent")
            #expect(reader.optionalObject("gone") == nil)
        }
        #expect(
            found.problems == [
                "/sources/y/z (line 1, column 43): The key \"z\" is not known here.",
                "/list/1 (line 1, column 72): An object is needed here, not a number.",
            ])
    }

    @Test(arguments: [
        (
            "",
            "the whole file (line 1, column 1): The file is not usable JSON: the JSON text ends too early (at byte 0); mend it there."
        ),
        (
            "[]",
            "the whole file (line 1, column 1): The file holds an array; it must hold an object, {…}."
        ),
        (
            "{\n\"a\": 1,\n\"a\": 2}",
            "the whole file (line 3, column 1): The file is not usable JSON: the key \"a\" stands twice in one object (at byte 10); mend it there."
        ),
        (
            "{\"a\": tru}",
            "the whole file (line 1, column 10): The file is not usable JSON: this is not JSON (at byte 9); mend it there."
        ),
    ])
    func `a text that is no object is told at its fault`(text: String, problem: String) {
        #expect(reading(text) { _ in }.problems == [problem])
    }

    @Test func `only so many problems are listed`() {
        let members = (0..<5_000).map { "\"k\($0)\": 0" }.joined(separator: ",\n")
        let found = reading("{\(members)}") { _ in }
        #expect(found.problems.count == 101)
        #expect(
            found.problems.last
                == "the whole file: 4900 more problems are not listed; mend these first.")
    }

    @Test func `a product's own problem stands among the others`() {
        let found = reading(#"{"zone": "Nowhere"}"#) { reader in
            _ = reader.string("zone")
            reader.problem("zone", "There is no such zone.")
        }
        #expect(found.problems == ["/zone (line 1, column 2): There is no such zone."])
    }

    @Test func `a zone is read with its rules`() throws {
        let database = try TimeZoneDatabase()
        let found = reading(#"{"timezone": "Etc/UTC", "bad": "../x"}"#) { reader in
            _ = reader.timeZone("bad", from: database, default: .utc)
            return reader.timeZone("timezone", from: database, default: .utc).name
        }
        #expect(
            found.problems == [
                "/bad (line 1, column 25): \"../x\" is no name of a time zone; write one such as "
                    + "Europe/Berlin or Etc/UTC."
            ])
    }

    @Test func `a file is read up to its bound`() throws {
        try withDirectory { directory in
            let path = directory + "/config.json"
            try write(#"{"a": 1}"#, path)
            let source = try ConfigurationSource.file(path, environment: [:])
            #expect(try source.read { $0.integer("a", in: 0...9) } == 1)
            try write(String(repeating: " ", count: 1_048_577), path)
            let long = #expect(throws: ConfigurationRejection.self) {
                try ConfigurationSource.file(path, environment: [:])
            }
            #expect(
                long?.description
                    == "\(path): the whole file: The file \(path) is longer than 1048576 bytes. "
                    + "Name another with --config.")
            #expect(throws: ConfigurationRejection.self) {
                try ConfigurationSource.file(directory, environment: [:])
            }
            #expect(throws: ConfigurationRejection.self) {
                try ConfigurationSource.file(directory + "/absent", environment: [:])
            }
        }
        let none = ConfigurationSource.withoutFile(environment: ["JOURNEY_A": "4"])
        #expect(try none.read { $0.integer("a", in: 0...9) } == 4)
    }

    @Test func `bounds and kinds are checked everywhere`() {
        let text = """
            {"d": "PT2M", "l": 1, "m": [{}, {}], "n": {"x": 1}, "s": 5, "t": ["a", "b"], "u": true}
            """
        let found = reading(text, environment: ["JOURNEY_V": "[1"]) { reader in
            _ = reader.duration("d", in: .seconds(1) ... .seconds(60))
            _ = reader.objectArray("l")
            _ = reader.objectArray("m", limit: 1)
            _ = reader.objects("n")
            _ = reader.stringArray("s")
            _ = reader.stringArray("t", limit: 1)
            _ = reader.requiredString("u")
            _ = reader.stringArray("v")
            #expect(reader.keys == ["d", "l", "m", "n", "s", "t", "u"])
        }
        #expect(
            found.problems.map { $0.split(separator: "): ", maxSplits: 1).last ?? "" } == [
                "The duration must lie between PT1S and PT1M.",
                "An array of objects is needed here, not a number.",
                "The array holds more than 1 objects; shorten it.",
                "An object is needed here, not a number.",
                "An array of strings is needed here, not a number.",
                "The array holds more than 1 texts; shorten it.",
                "A string is needed here, not a boolean.",
                "/v: The variable JOURNEY_V must hold a JSON array of strings.",
            ])
    }

    @Test func `a text past the bound is refused unread`() {
        let text = "{" + String(repeating: " ", count: 1_048_576) + "}"
        #expect(
            reading(text) { _ in }.problems == [
                "the whole file: The text is longer than 1048576 bytes; split it or trim it."
            ])
    }
}
