internal import CommandLine
internal import JSON
internal import JourneyEngine
internal import JourneyStorage
internal import TimeZones

/// What `show` says about a run.
struct ShownRun {
    let view: RunView
    /// The last decisions, in order.
    let tail: [HistoryRow]

    /// What the present step waits for, by its last entry of waiting.
    private var awaited: [String] {
        let entries = tail.flatMap { $0.entries.array ?? [] }
        let waiting = entries.last { $0["kind"]?.string == "waiting" }
        return (waiting?["events"]?.array ?? []).compactMap(\.string)
    }

    private var reasons: [(word: String, sentence: String)] {
        view.holds.map { ($0.word, $0.sentence(now: view.now, events: awaited)) }
    }

    /// The run's row with `why`, `next_wake`, `effects` and `history`.
    var json: JSONValue {
        var object = view.summary.json.object ?? JSONObject()
        object["why"] = .array(
            reasons.map { ["hold": .string($0.word), "sentence": .string($0.sentence)] })
        object["next_wake"] = view.summary.wakeAt.map { .string($0.description) } ?? .null
        object["now"] = .string(view.now.description)
        object["effects"] = .array(view.effects.map(\.json))
        object["history"] = .array(tail.map(\.row))
        return .object(object)
    }

    /// The same in words; the foremost reason stands first.
    var lines: [String] {
        let run = view.summary
        var lines = [
            "Run       \(run.id)",
            "Workflow  \(run.workflow), version \(run.version)",
            "Customer  record \(run.customer), \(run.environment)"
                + (run.key.map { ", key \($0)" } ?? ""),
            "Entered   \(told(run.enteredAt, view.now))",
            "Status    \(run.status)" + (run.reason.map { " (\($0))" } ?? "")
                + (run.step.map { " at \($0)" } ?? "")
                + (run.endedAt.map { ", ended \(told($0, view.now))" } ?? ""),
        ]
        for (place, reason) in reasons.enumerated() {
            lines.append("\(place == 0 ? "Why       " : "          ")\(reason.sentence)")
        }
        lines.append("Next wake \(run.wakeAt.map { told($0, view.now) } ?? "none by time")")
        if !view.effects.isEmpty {
            lines += ["", "Effects"] + Self.split(EffectView.table(view.effects))
        }
        if !tail.isEmpty {
            lines += ["", tail.count < view.run.decisions ? "History (its end)" : "History"]
            lines += Self.split(Self.historyTable(tail))
        }
        return lines
    }

    private static func split(_ table: Table) -> [String] {
        table.text(.table).split(separator: "\n").map { "  \($0)" }
    }

    /// A line an entry.
    static func historyTable(_ rows: [HistoryRow]) -> Table {
        Table(
            columns: [
                Table.Column("AT", key: "at"),
                Table.Column("N", key: "decision", alignment: .right),
                Table.Column("WHAT", key: "what"), Table.Column("", key: "text"),
            ],
            rows: rows.flatMap { row in
                (row.entries.array ?? []).compactMap { entry in
                    HistoryPhrase(entry).map { phrase in
                        [
                            "at": .string(row.at.description), "decision": .integer(row.number),
                            "what": .string(phrase.kind), "text": .string(phrase.text),
                        ]
                    }
                }
            }, idKey: "decision")
    }
}
