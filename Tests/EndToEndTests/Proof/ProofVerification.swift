import JSON
import Testing

/// `journey-replay verify` over everything that the proof left behind, and over the same histories with
/// alterations planted into them: each is found, with its step.
struct ProofVerification {
    let world: World
    let folder: String
    let database: String
    /// So many with their seals as they were, and so many sealed anew.
    let alterations: Int
    let seed: UInt64

    /// Returns the sentences for the report.
    func run() async throws -> [String] {
        let begun = ContinuousClock.now
        let whole = try await replay(["verify", "--output", "jsonl"])
        let took = begun.duration(to: .now)
        #expect(whole.code == 0, "\(whole.errors.suffix(500)) \(whole.output.prefix(2_000))")
        let sentence = whole.errors.split(separator: "\n").last.map(String.init) ?? ""
        let runs = sentence.split(separator: " ").first.flatMap { Double($0) } ?? 0

        var planting = ProofPlanting(pool: world.pool, seed: seed)
        let sealed = try await planting.plant(alterations, sealsAnew: false)
        let anew = try await planting.plant(alterations, sealsAnew: true)
        #expect(sealed.count == alterations)
        #expect(anew.count == alterations)
        let told = try await told()
        #expect(Set(told.keys).isSubset(of: (sealed + anew).map(\.run)), "others were told too")

        for one in sealed + anew {
            // Sealed anew, a value is found where it sways something: later, or never.
            let mayHide = one.isSealedAnew && [.event, .read].contains(one.kind)
            if let step = told[one.run] {
                #expect(mayHide || one.steps.contains(step), "\(one): told at \(step)")
            } else if !mayHide {
                Issue.record("\(one) was not found")
            }
        }
        return [
            "verify: \(sentence), in \(took), "
                + "\(Int(runs / (took / .seconds(1)))) a second with its start, a debug build",
            "verify: seals as they were: \(words(sealed, told))",
            "verify: sealed anew: \(words(anew, told))",
        ]
    }

    private func words(_ planted: [ProofPlanting.Planted], _ told: [String: String]) -> String {
        let found = planted.filter { told[$0.run] != nil }
        let own = found.filter { one in told[one.run].map(one.steps.contains) ?? false }.count
        let kinds = Dictionary(grouping: planted, by: \.kind).sorted { $0.key < $1.key }
        let each = kinds.map { kind, all in
            "\(kind) \(all.filter { told[$0.run] != nil }.count) of \(all.count)"
        }
        return "\(found.count) of \(planted.count) alterations found, \(own) at their own step: "
            + each.joined(separator: ", ")
    }

    /// The step that is named for each run that verify finds fault with.
    private func told() async throws -> [String: String] {
        let process = try await replay(["verify", "--output", "jsonl"])
        #expect(process.code == 5)
        var told: [String: String] = [:]
        for line in process.output.split(separator: "\n") {
            let row = try JSONParser.parse(Array(line.utf8))
            guard let run = row["run"]?.string else { continue }
            told[run] = row["step"]?.string ?? ""
        }
        return told
    }

    private func replay(_ words: [String]) async throws -> Process {
        let process = try Process(
            words + ["--database", database], of: "journey-replay", in: folder, name: "verify")
        try await world.until("\(words) ends", within: .seconds(900)) { process.code != nil }
        return process
    }
}
