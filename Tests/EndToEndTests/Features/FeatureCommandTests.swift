import Glibc
import HTTPClient
import JSON
import Reactor
import TestSupport
import Testing

/// The program `feature-server` as people and scripts use it.
struct FeatureCommandTests {
    @Test func `the shipped catalogue is published, granted from, shown, revoked and forgotten`()
        async throws
    {
        try await FeatureWorld.with { world in
            try await world.clearCatalogue()
            let shipped = Webhook.root + "/Workflows/catalog"
            let dry = try await world.run("publish", shipped, "--dry-run")
            #expect(dry.code == 0, "\(dry.errors)")
            #expect(dry.errors.contains("new      product pro-monthly"))
            let mute = try await world.run("publish", shipped, "--reason", "first")
            #expect(mute.code == 6, "\(mute.errors)")
            let published = try await world.run("publish", shipped, "--yes", "--reason", "first")
            #expect(published.code == 0, "\(published.errors)")
            #expect(published.output == "Published version 1: 4 features and 5 products.\n")
            let again = try await world.run("publish", shipped, "--yes", "--reason", "again")
            #expect(again.output.hasPrefix("Nothing changes"))

            let grant = try await world.run(
                "grant", "c", "--product", "pro-monthly", "--yes", "--reason", "goodwill")
            #expect(grant.code == 0, "\(grant.errors)")
            let id = String(grant.output.dropLast())
            #expect(id.hasPrefix("operator:"))
            let more = try await world.run(
                "grant", "c", "--feature", "credits", "--allowance", "50", "--entity", "p1",
                "--yes",
                "--reason", "ticket")
            #expect(more.code == 0, "\(more.errors)")
            let shown = try await world.run("show", "c", "-o", "json")
            let rows = try #require(try JSONParser.parse(shown.output).array)
            #expect(
                rows.map { $0["feature"]?.string } == [
                    "premium-content", "ai-generations", "ai-generations", "credits",
                ])
            #expect(rows[3]["entity"] == "p1")
            #expect(rows[1]["left"] == 100)

            let revoked = try await world.run("revoke", "c", id, "--yes", "--reason", "mistake")
            #expect(revoked.code == 0, "\(revoked.errors)")
            let twice = try await world.run("revoke", "c", id, "--yes", "--reason", "mistake")
            #expect(twice.code == 4)
            let check = try await world.run("check", "c", "nobody")
            #expect(check.code == 0, "\(check.output)")
            let forgotten = try await world.run("forget", "c", "--yes", "--reason", "asked for it")
            #expect(forgotten.code == 0, "\(forgotten.errors)")
            let gone = try await world.run("show", "c")
            #expect(gone.code == 4)
            let kept = try await world.number("select count(*) from features.audit")
            #expect(kept == 5)
        }
    }

    @Test func `lines that cannot be understood end with 2 and a sentence`() async throws {
        try await FeatureWorld.with { world in
            for (words, part) in [
                (["grant", "c", "--yes", "--reason", "x"], "one of them"),
                (["grant", "c", "--product", "pro", "--yes"], "--reason TEXT"),
                (["grant", " c", "--product", "pro", "--yes", "--reason", "x"], "CUSTOMER is"),
                (["check"], "--all"), (["rebuild", "--all", "c", "--reason", "x"], "--all"),
                (
                    [
                        "grant", "c", "--feature", "premium", "--allowance", "1", "--yes",
                        "--reason", "x",
                    ], "boolean"
                ),
                (
                    [
                        "grant", "c", "--product", "pro", "--until", "yesterday", "--yes",
                        "--reason", "x",
                    ], "--until"
                ),
            ] {
                let result = try await world.run(words)
                #expect(result.code == 2, "\(words): \(result.errors)")
                #expect(result.errors.contains(part), "\(result.errors)")
            }
            let unknown = try await world.run(
                "grant", "c", "--product", "prro", "--yes", "--reason", "x")
            #expect(unknown.code == 4)
        }
    }

    @Test func `tampering is found with 5 and mended by rebuild`() async throws {
        try await FeatureWorld.with { world in
            try await world.give("coins", to: "c")
            let before = try await world.projection()
            try await world.change("update features.access_steps set balance = 9999")
            let check = try await world.run("check", "--all")
            #expect(check.code == 5)
            #expect(check.output.contains("production c: the access steps"))
            let rebuild = try await world.run("rebuild", "c", "--yes", "--reason", "mend")
            #expect(rebuild.output.contains("1 rebuilt"), "\(rebuild.errors)")
            let after = try await world.projection()
            #expect(before == after)
        }
    }

    @Test func `the service answers, says it is ready, and drains`() async throws {
        try await FeatureWorld.with { world in
            try await world.give("pro", to: "c")
            let process = try world.serve("server")
            let port = try await world.port(of: process)
            let admin = try await world.port(of: process, "admin_port")
            let answer = try await world.post(
                "/entitled", ["customerId": "c", "featureId": "premium"], port: port)
            #expect(answer.status == 200)
            #expect(answer.json["allowed"] == true)
            for path in ["healthz", "readyz", "metrics"] {
                let health = try await world.get("http://127.0.0.1:\(admin)/\(path)")
                #expect(health.status == 200, "\(path)")
            }
            process.signal(SIGTERM)
            while process.code == nil { try await world.loop.sleep(for: .milliseconds(10)) }
            #expect(process.code == 0, "\(process.errors)")
            #expect(!process.errors.contains(FeatureWorld.key))
        }
    }

    @Test func `a schema that is not there keeps the service from starting, with the next step`()
        async throws
    {
        try await FeatureWorld.with { world in
            try await world.change("drop schema features cascade")
            let process = try world.serve("server")
            while process.code == nil { try await world.loop.sleep(for: .milliseconds(10)) }
            #expect(process.code == 1)
            #expect(process.errors.contains("feature-server migrate up"))
        }
    }
}
