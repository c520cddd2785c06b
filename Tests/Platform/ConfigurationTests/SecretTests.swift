import Configuration
import FoundationEssentials
import JSON
import Testing

@Suite struct SecretTests {
    private func secret(
        _ json: String, environment: [String: String] = [:], root: String = ""
    ) -> (value: String?, problems: [String]) {
        reading("{\(root)\"s\": \(json)}", environment: environment) { reader in
            reader.secret("s")?.revealed ?? ""
        }
    }

    @Test func `a secret comes from a variable or from a file without its line end`() throws {
        #expect(secret(#"{"env": "TOKEN"}"#, environment: ["TOKEN": " hush "]).value == " hush ")
        try withDirectory { directory in
            for (text, wanted) in [
                ("hush\n", "hush"), ("hush\r\n", "hush"), ("hush\n\n", "hush\n"), ("hush", "hush"),
            ] {
                try write(text, directory + "/secret")
                #expect(secret(#"{"file": "\#(directory)/secret"}"#).value == wanted)
            }
        }
        #expect(secret("null", environment: ["JOURNEY_S": "hush"]).value == "hush")
    }

    @Test func `a missing or empty secret is told by name and never by value`() throws {
        #expect(
            secret(#"{"env": "TOKEN"}"#).problems == [
                "/s (line 1, column 2): The variable TOKEN is not set; set it or name another one."
            ])
        #expect(
            secret(#"{"env": "TOKEN"}"#, environment: ["TOKEN": ""]).problems == [
                "/s (line 1, column 2): The variable TOKEN is empty; put the secret there."
            ])
        #expect(
            secret(#"{"file": "relative"}"#).problems == [
                "/s (line 1, column 2): The path \"relative\" is not absolute; begin it with /."
            ])
        #expect(
            secret(#"{"file": "/nowhere/at/all"}"#).problems == [
                "/s (line 1, column 2): The file /nowhere/at/all does not exist."
            ])
        for json in ["{}", #"{"env": 1}"#, #"{"env": "A", "file": "/b"}"#, #"{"vault": "x"}"#, "1"]
        {
            #expect(secret(json).problems.count == 1, "\(json)")
        }
        try withDirectory { directory in
            try write("", directory + "/empty")
            #expect(secret(#"{"file": "\#(directory)/empty"}"#).problems.count == 1)
            try write(String(repeating: "x", count: 65_537), directory + "/long")
            #expect(secret(#"{"file": "\#(directory)/long"}"#).problems.count == 1)
            #expect(secret(#"{"file": "\#(directory)"}"#).problems.count == 1)
        }
    }

    @Test func `a literal secret is refused unless the file admits them`() {
        let refused = secret(#""hush""#)
        #expect(refused.problems.count == 1)
        #expect(
            refused.problems.allSatisfy {
                !$0.contains("hush") && $0.contains("allow_literal_secrets")
            })
        #expect(secret(#""hush""#, root: #""allow_literal_secrets": true, "#).value == "hush")
        #expect(secret(#""hush""#, root: #""allow_literal_secrets": false, "#).problems.count == 1)
    }

    @Test func `a required secret that is absent is one problem`() {
        let found = reading("{}") { $0.requiredSecret("s").revealed }
        #expect(
            found.problems == [
                "/s (line 1, column 1): A secret is needed here; write {\"env\": \"NAME\"} or "
                    + "{\"file\": \"/path\"}."
            ])
    }

    @Test func `a secret is never printed`() {
        let secret = Secret("hush")
        var dumped = ""
        dump([secret], to: &dumped)
        let shown =
            "\(secret) \(String(reflecting: secret)) \(dumped) \(String(describing: Optional(secret)))"
        #expect(!shown.contains("hush"))
        #expect("\(secret)" == "(secret)")
    }

    @Test func `what no secret may hold is refused`() throws {
        #expect(secret(#"{"env": "TOKEN"}"#, environment: ["TOKEN": "a\0b"]).problems.count == 1)
        #expect(
            secret("null", environment: ["JOURNEY_S": ""]).problems == [
                "/s: The variable JOURNEY_S is empty."
            ])
        try withDirectory { directory in
            let path = directory + "/binary"
            try Data([0xff, 0xfe]).write(to: URL(fileURLWithPath: path))
            #expect(secret("{\"file\": \"\(path)\"}").problems.count == 1)
        }
    }
}
