import JSON
import JourneyModel
import JourneyTurns
import Postgres
import TimeZones

/// Alters histories that the proof left behind: what was decided, read, answered, sent or told, with the
/// row's seal as it was, or made anew by somebody who knows how.
struct ProofPlanting {
    enum Kind: String, CaseIterable, Comparable {
        case decision, due, ending, event, gone, read, request, result

        static func < (one: Kind, other: Kind) -> Bool { one.rawValue < other.rawValue }

        /// What the row's text, without blanks, must be like.
        fileprivate var pattern: String {
            switch self {
            case .decision, .gone: #"%"kind":"moved"%"#
            case .due: #"%"kind":"waiting"%"due":%"#
            case .ending: #"%"kind":"ended"%"#
            case .event: #"%"kind":"input"%"scope"%"#
            case .read: #"%"kind":"read"%"values":{"%"#
            case .request: #"%"kind":"requested"%"#
            case .result: #"%"kind":"input"%"outcome":{"outcome":"succeeded"%"#
            }
        }
    }

    struct Planted: Hashable {
        let run: String
        let kind: Kind
        let isSealedAnew: Bool
        /// Where the run stood as the decision began, and what the decision's entries name.
        let steps: Set<String>
    }

    let pool: PostgresPool
    let seed: UInt64
    private var touched: Set<String> = []

    init(pool: PostgresPool, seed: UInt64) {
        self.pool = pool
        self.seed = seed
    }

    /// Alters so many histories, as many of each kind as of the others, each of another run.
    mutating func plant(_ count: Int, sealsAnew: Bool) async throws -> [Planted] {
        var planted: [Planted] = []
        for (place, kind) in Kind.allCases.enumerated() {
            let wanted = count * (place + 1) / Kind.allCases.count
            let rows = try await pool.query(
                SQLStatement(
                    "proof_plant_find",
                    """
                    select run, decision, at, entries from journey.history
                    where regexp_replace(entries::text, '\\s', '', 'g') like $1
                    order by md5(run || decision || $2) limit $3
                    """, timeout: .seconds(120)),
                [
                    .text(kind.pattern), .text("\(seed) \(sealsAnew)"),
                    .int8(Int64(count * 4 + touched.count)),
                ])
            for row in rows where planted.count < wanted {
                if let one = try await plant(kind, row, sealsAnew) { planted.append(one) }
            }
        }
        return planted
    }

    private mutating func plant(
        _ kind: Kind, _ row: PostgresRow, _ sealsAnew: Bool
    ) async throws -> Planted? {
        let run = try row.string("run")
        let number = try row.int32("decision")
        let old = try JSONParser.parse(try row.json("entries"))
        guard !touched.contains(run), var object = old.object,
            let entries = old["entries"]?.array, let altered = Self.altered(entries, kind)
        else { return nil }
        touched.insert(run)
        object["entries"] = .array(altered)
        if sealsAnew {
            let seal = Decision.seal(
                run: RunID(run), number: Int(number), at: try row.instant("at"),
                entries: .array(altered))
            object["seal"] = .string(seal)
        }
        var steps = Set(
            entries.flatMap { entry in
                ["from", "to", "step"].compactMap { entry[$0]?.string }
            })
        if let step = try await stood(run, before: number) { steps.insert(step) }
        let statement =
            kind == .gone
            ? SQLStatement(
                "proof_plant_gone",
                "delete from journey.history where run = $1 and decision = $2 and $3 <> ''")
            : SQLStatement(
                "proof_plant",
                """
                update journey.history set entries = $3::text::json
                where run = $1 and decision = $2
                """)
        _ = try await pool.query(
            statement, [.text(run), .int4(number), .text(JSONValue.object(object).text)])
        return Planted(run: run, kind: kind, isSealedAnew: sealsAnew, steps: steps)
    }

    /// Where the run stood before a decision; the last step that it passed, once it has ended.
    private func stood(_ run: String, before number: Int32) async throws -> String? {
        let rows = try await pool.query(
            SQLStatement(
                "proof_plant_before",
                """
                select entries from journey.history where run = $1 and decision < $2
                order by decision desc
                """), [.text(run), .int4(number)])
        for row in rows {
            let entries = try JSONParser.parse(try row.json("entries"))["entries"]?.array ?? []
            let last = entries.last { $0["from"] != nil || $0["step"] != nil }
            if let last { return (last["from"] ?? last["step"])?.string }
        }
        return nil
    }

    // MARK: Altering

    /// The entries with one thing changed; nil when there is nothing to change.
    private static func altered(_ entries: [JSONValue], _ kind: Kind) -> [JSONValue]? {
        if kind == .gone { return entries }
        for place in entries.indices {
            guard let changed = altered(entries[place], kind) else { continue }
            var all = entries
            all[place] = changed
            return all
        }
        return nil
    }

    private static func altered(_ entry: JSONValue, _ kind: Kind) -> JSONValue? {
        guard var object = entry.object, let word = entry["kind"]?.string else { return nil }
        switch (kind, word) {
        case (.decision, "moved"): object["to"] = "planted"
        case (.due, "waiting") where entry["due"]?.string != nil:
            object["due"] = "2031-01-01T00:00:00.000Z"
        case (.ending, "ended"): object["status"] = "cancelled"
        case (.event, "input"):
            guard var scope = entry["scope"]?.object else { return nil }
            scope["period_type"] = "planted"
            object["scope"] = .object(scope)
        case (.read, "read"):
            guard var values = entry["values"]?.object, let first = values.keys.first else {
                return nil
            }
            values[first] = "planted"
            object["values"] = .object(values)
        case (.request, "requested"): object["request"] = ["path": "/planted"]
        case (.result, "input") where entry["outcome"] != nil:
            object["outcome"] = ["outcome": "failed", "error": "planted", "detail": nil]
        case (_, _): return nil
        }
        return .object(object)
    }
}
