import HTTPClient
import JSON
import TestMaterial
import TestSupport
import Testing

/// A provider that the product does not know is added by its documentation alone, and its webhooks arrive.
@Suite(.serialized, .timeLimit(.minutes(1))) struct AddedProviderTests {
    /// The JSON blocks of the page, in order: a body, the definition, the configuration.
    private static func blocks() throws -> [JSONValue] {
        let page = try PackageFiles.bytes(
            of: "Sources/Journeys/Connectors/Connectors.docc/ProviderDefinitions.md")
        var blocks: [JSONValue] = []
        var block: String?
        for line in String(decoding: page, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        {
            if line == "```json" {
                block = ""
            } else if line == "```", let text = block {
                blocks.append(try JSONParser.parse(text))
                block = nil
            } else if block != nil {
                block?.append(line + "\n")
            }
        }
        return blocks
    }

    @Test func `a webhook of the documented provider becomes its event`() async throws {
        let blocks = try Self.blocks()
        try #require(blocks.count == 3)
        try await TemporaryFolder.with { folder in
            try await World.with { world in
                let file = folder + "/acme.json"
                try Process.write(blocks[1], to: file)
                var shop = try #require(blocks[2]["connectors"]?["shop"]?.object)
                shop["authenticate"] = [
                    ["scheme": "bearer", "secret": "a-long-enough-token"]
                ]
                let changes = JSONObject([
                    ("providers", ["files": [.string(file)]]),
                    ("connectors", ["shop": .object(shop)]),
                ])
                try await world.withWorker(changes: changes) { worker in
                    let path = "/v1/webhooks/shop"
                    let stranger = try await worker.door.post(
                        blocks[0].bytes, authorization: ["Bearer guessed"], path: path)
                    #expect(stranger.status == 401)
                    for word in ["accepted", "duplicate"] {
                        let answer = try await worker.door.post(
                            blocks[0].bytes, authorization: ["Bearer a-long-enough-token"],
                            path: path)
                        #expect(answer.status == 200)
                        #expect(answer.word == word)
                    }
                    try await world.until("select count(*) from journey.events", is: 1)
                    #expect(
                        try await world.texts(
                            "select name || ' ' || connector as value from journey.events")
                            == ["purchase.completed shop"])
                    #expect(
                        try await world.texts(
                            "select attributes->>'email' as value from journey.customers")
                            == ["sam@example.com"])
                }
            }
        }
    }
}
