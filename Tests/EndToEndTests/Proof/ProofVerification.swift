import JSON
import Postgres
import Testing

/// `journey-replay verify` over everything that the proof left behind, and over histories in which a
/// decision, a value that was read, or an effect's result was altered: each is found, with its step.
struct ProofVerification {
    let world: World
    let folder: String
    let database: String
    let alterations: Int
    let seed: UInt64

    private struct Planted: Hashable {
        let run: String
        /// Those that the decision was made at.
        let steps: Set<String>
        let kind: String
    }

    /// Returns the sentence for the report.
    func run() async throws -> String {
        let whole = try await replay(["verify", "--output", "jsonl"])
        if whole.code == 2, whole.errors.contains("has no verb") {
            return "journey-replay has no verb verify: the histories were not verified"
        }
        #expect(whole.code == 0, "\(whole.errors.suffix(500)) \(whole.output.prefix(2_000))")
        let sentence = whole.errors.split(separator: "\n").last.map(String.init) ?? ""
        let planted = try await plant()
        let after = try await replay(["verify", "--output", "jsonl"])
        #expect(after.code == 5)
        var told: [String: String] = [:]
        for line in after.output.split(separator: "\n") {
            let row = try JSONParser.parse(Array(line.utf8))
            guard let run = row["run"]?.string else { continue }
            told[run] = row["step"]?.string ?? ""
        }
        var found: [String: Int] = [:]
        for one in planted {
            if let step = told[one.run], one.steps.contains(step) {
                found[one.kind, default: 0] += 1
            } else {
                Issue.record(
                    "\(one.kind) of \(one.run) at \(one.steps): \(told[one.run] ?? "not found")")
            }
        }
        let all = found.values.reduce(0, +)
        #expect(planted.count == alterations)
        #expect(told.count == planted.count, "others were told too")
        return "verify: \(sentence); "
            + "\(all) of \(planted.count) planted alterations found with their step: "
            + found.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
            .joined(separator: ", ")
    }

    private func replay(_ words: [String]) async throws -> Process {
        let process = try Process(
            words + ["--database", database], of: "journey-replay", in: folder, name: "verify")
        try await world.until("\(words) ends", within: .seconds(300)) { process.code != nil }
        return process
    }

    // MARK: Planting

    private static let kinds: [(name: String, like: String, share: Int)] = [
        ("result", #"%"kind":"input"%"outcome":{"outcome":"succeeded"%"#, 3),
        ("read value", #"%"kind":"read"%"values"%"#, 3),
        ("decision", #"%"kind":"moved"%"#, 3),
    ]

    private func plant() async throws -> Set<Planted> {
        var planted: Set<Planted> = []
        var touched: Set<String> = []
        for (place, kind) in Self.kinds.enumerated() {
            let wanted = alterations * (place + 1) / Self.kinds.count
            let rows = try await world.pool.query(
                SQLStatement(
                    "proof_plant_find",
                    """
                    select run, decision, entries from journey.history
                    where regexp_replace(entries::text, '\\s', '', 'g') like $1
                    order by md5(run || decision || $2) limit $3
                    """, timeout: .seconds(60)),
                [.text(kind.like), .text("\(seed)"), .int8(Int64(alterations * 3))])
            for row in rows where planted.count < wanted {
                let run = try row.string("run")
                guard touched.insert(run).inserted,
                    let (entries, steps) = altered(
                        try JSONParser.parse(try row.json("entries")), kind.name)
                else { continue }
                _ = try await world.pool.query(
                    SQLStatement(
                        "proof_plant",
                        """
                        update journey.history set entries = $3::text::json
                        where run = $1 and decision = $2
                        """),
                    [.text(run), .int4(try row.int32("decision")), .text(entries.text)])
                planted.insert(Planted(run: run, steps: steps, kind: kind.name))
            }
        }
        return planted
    }

    /// The row with one thing changed, and the steps that the decision was made at.
    private func altered(_ row: JSONValue, _ kind: String) -> (JSONValue, steps: Set<String>)? {
        guard var object = row.object, var entries = row["entries"]?.array else { return nil }
        let steps = Set(
            entries.flatMap { entry in
                ["from", "to", "step"].compactMap { entry[$0]?.string }
            })
        guard !steps.isEmpty else { return nil }
        for place in entries.indices {
            guard var entry = entries[place].object, let word = entry["kind"]?.string else {
                continue
            }
            switch (kind, word) {
            case ("result", "input") where entry["outcome"] != nil:
                entry["outcome"] = ["outcome": "failed", "error": "planted", "detail": nil]
            case ("read value", "read"):
                guard let values = entry["values"]?.object, let first = values.keys.first else {
                    continue
                }
                var changed = values
                changed[first] = "planted"
                entry["values"] = .object(changed)
            case ("decision", "moved"): entry["to"] = "planted"
            case (_, _): continue
            }
            entries[place] = .object(entry)
            object["entries"] = .array(entries)
            return (.object(object), steps)
        }
        return nil
    }
}
