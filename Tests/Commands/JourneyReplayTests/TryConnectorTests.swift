import JSON
import TestMaterial
import TestSupport
import Testing

@Suite struct TryConnectorTests {
    private let body = PackageFiles.path("Tests/Fixtures/webhooks/revenuecat/trial-started.json")

    private func result(_ answer: Answer) throws -> JSONValue {
        #expect(answer.code == 0, "\(answer.error)")
        return try JSONParser.parse(answer.output)
    }

    @Test func `without headers and secret nobody is asked who sent it`() async throws {
        let json = try result(
            try await ReplayWorld().run("try", "connector", "revenuecat", "--body", body))
        #expect(json["status"]?.integer == 200)
        #expect(json["authenticated"]?.isNull == true)
        #expect(json["reason"] == nil)
        #expect(json["event"]?["event"]?.string == "trial.started")
        #expect(json["event"]?["received_at"]?.string == "2026-03-02T12:00:00.000Z")
        #expect(json["event"]?["properties"]?["raw"]?["type"]?.string == "INITIAL_PURCHASE")
    }

    @Test func `the right secret is accepted, another is answered 401 with the cause`() async throws
    {
        let (accepted, refused) = try await TemporaryFolder.with { folder in
            let headers = write(
                #"{"Authorization": "a-long-secret"}"#, to: "headers.json", in: folder)
            func run(_ secret: String) async throws -> JSONValue {
                try result(
                    try await ReplayWorld().run(
                        "try", "connector", "revenuecat", "--body", body, "--headers", headers,
                        "--secret", secret, "--scheme", "authorization"))
            }
            return (try await run("a-long-secret"), try await run("another-secret"))
        }
        #expect(accepted["status"]?.integer == 200)
        #expect(accepted["authenticated"]?.bool == true)
        #expect(refused["status"]?.integer == 401)
        #expect(refused["authenticated"]?.bool == false)
        #expect(refused["reason"]?.string?.contains("matches no configured secret") == true)
        #expect(refused["event"] == nil)
    }

    @Test(arguments: ["[1]", "{", "", "\"text\""])
    func `a body that is no JSON object is answered 400`(text: String) async throws {
        let json = try await TemporaryFolder.with { folder in
            let body = write(text, to: "body.json", in: folder)
            return try result(
                try await ReplayWorld().run("try", "connector", "superwall", "--body", body))
        }
        #expect(json["status"]?.integer == 400)
        #expect(json["reason"]?.string != nil)
        #expect(json["event"] == nil)
    }

    @Test func `a configured connector brings its own secret and identity`() async throws {
        let json = try await TemporaryFolder.with { folder in
            let configuration = write(
                #"""
                {"database": {"url": {"env": "DATABASE_URL"}},
                 "connectors": {"shop": {"provider": "revenuecat", "identity": "/event/app_id",
                  "authenticate": [{"scheme": "bearer", "secret": {"env": "SHOP"}}]}}}
                """#, to: "config.json", in: folder)
            let headers = write(
                #"{"authorization": "Bearer a-long-secret"}"#, to: "headers.json", in: folder)
            let world = ReplayWorld(environment: ["SHOP": "a-long-secret", "DATABASE_URL": "x"])
            return try result(
                try await world.run(
                    "--config", configuration, "try", "connector", "shop", "--body", body,
                    "--headers", headers))
        }
        #expect(json["authenticated"]?.bool == true)
        #expect(json["event"]?["connector"]?.string == "shop")
        #expect(json["event"]?["customer"]?["id"]?.string == "app4f1c2d3e")
    }

    @Test func `an unknown name ends with 4 and names the providers`() async throws {
        let answer = try await ReplayWorld().run("try", "connector", "revenucat", "--body", body)
        #expect(answer.code == 4)
        #expect(answer.error.contains("did you mean \"revenuecat\"?"))
    }

    @Test func `a body must be named`() async throws {
        let answer = try await ReplayWorld().run("try", "connector", "revenuecat")
        #expect(answer.code == 2)
        #expect(answer.error.contains("--body"))
    }
}
