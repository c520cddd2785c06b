import Configuration
import Connectors
import FoundationEssentials
import JSON
import JourneyModel
import Settings
import TestMaterial
import TestSupport
import Testing
import TimeZones

/// Providers that a configuration brings along.
struct ProviderFilesTests {
    private let token = ["ACME_TOKEN": "a-long-enough-token"]

    /// The JSON blocks of the page that documents definitions, in order: body, definition, configuration.
    private static func blocks() throws -> [JSONValue] {
        let path =
            PackageFiles.root
            + "/Sources/Journeys/Connectors/Connectors.docc/ProviderDefinitions.md"
        let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
        var blocks: [JSONValue] = []
        var block: [Substring]?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line == "```json" {
                block = []
            } else if line == "```", let lines = block {
                blocks.append(try JSONParser.parse(lines.joined(separator: "\n")))
                block = nil
            } else {
                block?.append(line)
            }
        }
        return blocks
    }

    /// Reads a configuration that lies in a folder with the given files.
    private func read(
        _ configuration: JSONValue, files: [String: [UInt8]]
    ) throws -> Result<WorkerSettings, ConfigurationRejection> {
        try TemporaryFolder.with { folder in
            for (name, bytes) in files {
                let url = URL(fileURLWithPath: folder + "/" + name)
                try FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(bytes).write(to: url)
            }
            let path = folder + "/config.json"
            try Data(configuration.bytes).write(to: URL(fileURLWithPath: path))
            do throws(ConfigurationRejection) {
                return .success(
                    try WorkerSettings.read(try .file(path, environment: token)))
            } catch {
                return .failure(error)
            }
        }
    }

    private func problems(
        _ configuration: JSONValue, files: [String: [UInt8]]
    ) throws -> [String] {
        switch try read(configuration, files: files) {
        case .success: []
        case .failure(let rejection):
            rejection.problems.map { "\($0.pointer): \($0.sentence)" }
        }
    }

    @Test func `a provider is added by the documented files alone, and works`() throws {
        let blocks = try Self.blocks()
        #expect(blocks.count == 3)
        let configuration = SettingsWorld.json(blocks[2].object ?? JSONObject())
        let settings = try read(
            configuration, files: ["connectors/acme.json": blocks[1].bytes]
        ).get()
        #expect(settings.providers.map(\.name).contains("acme"))
        let shop = try #require(settings.connectors["shop"])
        let now = Instant(milliseconds: 1_772_400_000_000)
        let headers = [(name: "Authorization", value: "Bearer a-long-enough-token")]
        let body = blocks[0].bytes
        #expect(shop.authenticate(headers: headers, body: body, now: now) == .accepted)
        #expect(shop.authenticate(headers: [], body: body, now: now) != .accepted)
        let event = shop.event(body: body, receivedAt: now, providerEventID: "d-7")
        #expect(event.name == "purchase.completed")
        #expect(event.providerType == "order.paid")
        #expect(event.occurredAt.milliseconds == 1_772_359_200_123)
        #expect(event.environment == "production")
        #expect(event.person.id == "1042")
        #expect(
            JSONValue.object(event.properties) == [
                "product_id": "pro.yearly", "price": ["amount": "79.99", "currency": "EUR"],
                "is_gift": false, "attributes": ["email": "sam@example.com"],
                "attribute_times": ["email": "2026-03-01T09:00:00.000Z"],
            ])
        #expect(event.notes.isEmpty)
    }

    private func naming(_ files: String..., provider: String = "acme") -> JSONValue {
        SettingsWorld.json(
            JSONObject([
                ("providers", ["files": .array(files.map { .string($0) })]),
                (
                    "connectors",
                    [
                        "shop": [
                            "provider": .string(provider),
                            "authenticate": [
                                ["scheme": "bearer", "secret": "a-long-enough-token"]
                            ],
                        ]
                    ]
                ),
            ]))
    }

    @Test func `a file takes the place of a shipped definition and may extend it`() throws {
        let text = """
            {"extends": "revenuecat", "version": 9,
             "rules": [{"when": {"/event/type": "TEST"}, "outcome": "connector.ignored"}]}
            """
        let settings = try read(
            naming("rc.json", provider: "revenuecat"), files: ["rc.json": Array(text.utf8)]
        ).get()
        #expect(settings.providers.count == ProviderDefinition.shipped.count)
        let shop = try #require(settings.connectors["shop"])
        #expect(shop.provider.mappingVersion.hasPrefix("9:"))
        let now = Instant(milliseconds: 1_772_400_000_000)
        for (type, outcome) in [("TEST", "connector.ignored"), ("RENEWAL", "subscription.renewed")]
        {
            let body = "{\"event\": {\"type\": \"\(type)\"}}"
            let event = shop.event(body: Array(body.utf8), receivedAt: now, providerEventID: "1")
            #expect(event.name == outcome)
        }
    }

    @Test func `a wrong definition is refused with file, place, sentence and what to do`() throws {
        let wrong = """
            {"extends": "json", "provider": "acme", "version": 1,
             "rules": [{"when": {"/event": "x"}, "outcome": "trial.strated"}], "propertys": {}}
            """
        let found = try problems(naming("acme.json"), files: ["acme.json": Array(wrong.utf8)])
        #expect(
            found.contains {
                $0.hasPrefix("/providers/files: In acme.json, /rules/0/outcome: ")
                    && $0.contains("did you mean \"trial.started\"?")
            }, "\(found)")
        #expect(
            found.contains {
                $0.contains("In acme.json, /propertys: is no key here")
                    && $0.contains("did you mean \"properties\"?")
            }, "\(found)")
        let broken = try problems(naming("acme.json"), files: ["acme.json": Array("{".utf8)])
        #expect(broken.contains { $0.contains("In acme.json, the definition: ") }, "\(broken)")
        let absent = try problems(naming("none.json"), files: [:])
        #expect(absent.contains { $0.contains("none.json") && $0.contains("Name another") })
        #expect(absent.contains { $0.contains("There is no provider \"acme\"") })
    }

    @Test func `two files of one provider are refused`() throws {
        let text = Array("{\"extends\": \"json\", \"provider\": \"acme\", \"version\": 1}".utf8)
        let found = try problems(
            naming("a.json", "b.json"), files: ["a.json": text, "b.json": text])
        #expect(found.count == 1)
        #expect(found.first?.contains("a.json and b.json both define") == true)
    }

    @Test func `a malformed secret is told with connector, scheme and variable`() {
        let json = SettingsWorld.json(
            JSONObject([
                (
                    "connectors",
                    [
                        "web": [
                            "provider": "stripe",
                            "authenticate": [["scheme": "stripe", "secret": ["env": "STRIPE"]]],
                        ]
                    ]
                )
            ]))
        let found = SettingsWorld.problems(json, ["STRIPE": "short"])
        #expect(found.count == 1)
        #expect(found.first?.contains("connector \"web\", scheme \"stripe\"") == true)
        #expect(found.first?.contains("variable STRIPE") == true)
        let missing = SettingsWorld.problems(json)
        #expect(missing.first?.contains("STRIPE") == true)
    }

    @Test func `Apple's and Google's entries name what they need`() throws {
        func entry(_ provider: String, _ entry: JSONValue) -> [String] {
            SettingsWorld.problems(
                SettingsWorld.json(
                    JSONObject([
                        (
                            "connectors",
                            ["c": ["provider": .string(provider), "authenticate": [entry]]]
                        )
                    ])))
        }
        #expect(entry("apple", ["scheme": "apple-jws", "bundle_id": "com.example"]).isEmpty)
        #expect(
            entry(
                "apple",
                [
                    "scheme": "apple-jws", "bundle_ids": ["a", "b"], "app_apple_id": 1,
                    "environments": ["Production"],
                ]
            ).isEmpty)
        #expect(entry("apple", ["scheme": "apple-jws"]).first?.contains("bundle_id") == true)
        #expect(
            entry("apple", ["scheme": "apple-jws", "bundle_id": "a", "secret": "x"]).first?
                .contains("secret") == true)
        #expect(
            entry("apple", ["scheme": "apple-jws", "bundle_id": "a", "roots": ["none.pem"]]).first?
                .contains("none.pem") == true)
        let push: JSONValue = ["scheme": "google-oidc", "audience": "a", "email": "e"]
        #expect(entry("google", push).isEmpty)
        #expect(entry("google", ["scheme": "google-oidc"]).first?.contains("audience") == true)
        let plain: JSONValue = [
            "scheme": "google-oidc", "audience": "a", "email": "e",
            "keys_url": "http://example.com",
        ]
        #expect(entry("google", plain).first?.contains("https") == true)
        let keys: JSONValue = [
            "scheme": "google-oidc", "audience": "a", "email": "e", "keys": ["keys": []],
        ]
        #expect(entry("google", keys).first?.contains("key set") == true)
    }
}
