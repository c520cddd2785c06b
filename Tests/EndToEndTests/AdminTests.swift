import HTTPClient
import JSON
import Testing

/// Health and metrics of a worker at work.
@Suite(.serialized, .timeLimit(.minutes(1))) struct AdminTests {
    // S20.2
    @Test func `a worker at work is alive and ready, and its metrics can be read`() async throws {
        try await World.with(workflows: [Definitions.waits()]) { world in
            try await world.withWorker { worker in
                let body = try Webhook.revenueCat("trial-started", id: "a1", person: "person-1")
                #expect(try await worker.door.post(body).status == 200)
                #expect(try await worker.door.post([], authorization: []).status == 401)
                try await world.until("select count(*) from journey.runs", is: 1)
                #expect(try await world.get(worker.admin + "/healthz") == (200, "alive\n"))
                #expect(try await world.get(worker.admin + "/readyz") == (200, "ready\n"))
                let (status, text) = try await world.get(worker.admin + "/metrics")
                #expect(status == 200)
                let samples = try Exposition.read(text)
                for (name, value) in [
                    (#"journey_deliveries_total{connector="revenuecat",result="accepted"}"#, 1.0),
                    (#"journey_deliveries_total{connector="revenuecat",result="unauthorized"}"#, 1),
                    (#"journey_events_total{name="trial.started"}"#, 1),
                    (#"journey_backlog{kind="unread_inputs"}"#, 0),
                    (#"journey_backlog{kind="stuck_customers"}"#, 0),
                    (#"journey_database_connections{state="most"}"#, 4),
                ] {
                    #expect(samples[name] == value, "\(name)")
                }
                #expect(samples["journey_ingest_seconds_count"] == 2)
                Secrets.expectNone(in: [text])
            }
        }
    }
}

extension AdminTests {
    @Test func `a database that takes no writes is told by readyz`() async throws {
        try await World.with(workflows: []) { world in
            try await world.withWorker { worker in
                #expect(try await world.get(worker.admin + "/readyz").status == 200)
                try await world.change(
                    """
                    do $$ begin execute format(
                        'alter database %I set default_transaction_read_only = on',
                        current_database()); end $$
                    """)
                try await world.change(
                    """
                    select pg_terminate_backend(pid) from pg_stat_activity
                    where datname = current_database() and pid <> pg_backend_pid()
                        and application_name = 'journey-worker'
                    """)
                try await world.until("readyz says so") {
                    let (status, text) = try await world.get(worker.admin + "/readyz")
                    return status == 503 && text.contains("takes no writes")
                }
            }
        }
    }
}

/// The text form of Prometheus, read strictly.
enum Exposition {
    /// Values by name with labels.
    static func read(_ text: String) throws -> [String: Double] {
        var samples: [String: Double] = [:]
        var types: [Substring: Substring] = [:]
        for line in text.split(separator: "\n", omittingEmptySubsequences: true) {
            if line.hasPrefix("# TYPE ") {
                let words = line.split(separator: " ")
                guard words.count == 4, types[words[2]] == nil else { throw Malformed(line) }
                types[words[2]] = words[3]
                continue
            }
            if line.hasPrefix("# HELP ") { continue }
            guard let space = line.lastIndex(of: " "),
                let value = Double(line[line.index(after: space)...])
            else { throw Malformed(line) }
            let series = line[..<space]
            var name = series.prefix { $0 != "{" }
            guard !name.isEmpty, name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }),
                name.count == series.count || series.hasSuffix("\"}"),
                samples[String(series)] == nil
            else { throw Malformed(line) }
            samples[String(series)] = value
            for ending in ["_bucket", "_sum", "_count"]
            where types[name] == nil && name.hasSuffix(ending) {
                name = name.dropLast(ending.count)
            }
            guard types[name] != nil else { throw Malformed(line) }
        }
        guard text.hasSuffix("\n") else { throw Malformed("the end") }
        return samples
    }

    struct Malformed: Error {
        let line: String
        init(_ line: some StringProtocol) { self.line = String(line) }
    }
}
