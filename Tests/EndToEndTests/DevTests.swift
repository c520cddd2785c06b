import Glibc
import HTTPClient
import JSON
import TestMaterial
import TestSupport
import Testing

/// `journey-worker dev`: everything from one command, on a database of its own.
@Suite(.serialized, .timeLimit(.minutes(1))) struct DevTests {
    /// What the ready file says.
    private static func ready(_ path: String) -> JSONValue? {
        Conformance.bytes(of: path).flatMap { try? JSONParser.parse($0) }
    }

    @Test func `it publishes, takes webhooks, tells its own receiver, and stops with 0`()
        async throws
    {
        try await World.with { world in
            try await TemporaryFolder.with { folder in
                let process = try Process(
                    [
                        "dev", "--data", folder + "/data", "--workflows",
                        Webhook.root + "/Workflows", "--ingest", "127.0.0.1:0", "--admin",
                        "127.0.0.1:0", "--ready-file", folder + "/ready.json",
                    ], in: folder, environment: ["DATABASE_URL": "host=/nowhere"])
                try await world.until("it is ready") {
                    #expect(process.code == nil, "\(process.errors)")
                    return process.code != nil || Self.ready(folder + "/ready.json") != nil
                }
                let ready = try #require(Self.ready(folder + "/ready.json"))
                #expect(process.output.contains("published  trial-onboarding version 1"))
                let url = try #require(ready["webhooks_url"]?.string)
                let port = try #require(url.split(separator: ":").last?.split(separator: "/").first)
                let door = Door(http: world.http, port: UInt16(port) ?? 0)
                let secret = try #require(ready["revenuecat_authorization"]?.string)
                for name in ["trial-started", "trial-converted"] {
                    let body = try Webhook.fixture("revenuecat/" + name).bytes
                    let answer = try await door.post(body, authorization: [secret])
                    #expect(answer.word == "accepted")
                }
                try await world.until("the receiver prints what it got") {
                    process.output.contains("received   POST /crm/journey-events")
                        && process.output.contains("received   POST /ops/new-subscribers")
                }
                try await tryFeatures(world, folder)
                #expect(!process.errors.contains(secret))
                #expect(!process.errors.contains("@example.com"))
                process.signal(SIGTERM)
                try await world.until("it ends") { process.code != nil }
                #expect(process.code == 0)
            }
        }
    }

    /// `feature-server dev` on the same cluster, from another terminal.
    private func tryFeatures(_ world: World, _ folder: String) async throws {
        let features = try Process(
            [
                "dev", "--data", folder + "/data", "--catalog", Webhook.root + "/Workflows/catalog",
                "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
            ], of: "feature-server", in: folder, name: "features")
        try await world.until("the feature server says where it is") {
            #expect(features.code == nil, "\(features.errors)")
            return features.code != nil || features.output.contains("Try it")
        }
        let grant = try Process(
            [
                "grant", "user-1042", "--product", "pro-monthly", "--data", folder + "/data",
                "--reason", "trying", "--yes",
            ], of: "feature-server", in: folder, name: "grant")
        try await world.until("the grant ends") { grant.code != nil }
        #expect(grant.code == 0, "\(grant.errors)")
        let place = try #require(features.output.split(separator: "http://").dropFirst().first)
        let url = "http://" + place.prefix { $0 != "," } + "/entitled"
        let body: JSONValue = [
            "apiKey": "pk_dev_features", "customerId": "user-1042", "featureId": "premium-content",
        ]
        let answer = try await world.http.send(
            HTTPCall(
                method: "POST", url: url, body: body.bytes, timeout: .seconds(10),
                destination: DestinationPolicy(allowsPrivate: true)))
        #expect(answer.json["allowed"] == true)
        features.signal(SIGTERM)
        try await world.until("the feature server ends") { features.code != nil }
        #expect(features.code == 0, "\(features.errors)")
    }
}
