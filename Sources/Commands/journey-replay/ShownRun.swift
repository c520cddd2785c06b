internal import CommandLine
internal import JSON
internal import JourneyEngine
internal import JourneyStorage
internal import TimeZones
internal import WorkflowDefinitions

/// What `show` says about a run.
struct ShownRun {
    let view: RunView
    /// The last decisions, in order.
    let tail: [HistoryRow]

    /// The definition that the run follows; nil when it cannot be read, and then why.
    var definition: WorkflowDefinition?
    var definitionProblem: String?

    /// The last entry of waiting, which says for what and in which zone.
    private var waiting: JSONValue? {
        tail.flatMap { $0.entries.array ?? [] }.last { $0["kind"]?.string == "waiting" }
    }

    /// What the present step waits for: event names, and conditions by their branch.
    private var awaited: [String] {
        guard let step = view.run.position?.step,
            case .waitUntil(let wait)? = definition?.steps[step]?.action
        else { return (waiting?["events"]?.array ?? []).compactMap(\.string) }
        return wait.branches.flatMap { branch in
            switch branch.cause {
            case .event(let match): match.names
            case .condition: ["the condition of \(branch.id)"]
            }
        }
    }

    /// ` (Europe/Berlin, 09:00 there)` for a due time that was found in a zone.
    private func clock(at due: Instant?) -> String {
        Self.clock(named: waiting?["zone"]?.string, at: due)
    }

    private static func clock(named name: String?, at due: Instant?) -> String {
        guard let name, let due else { return "" }
        guard let rules = try? TimeZoneDatabase().rules(named: name) else { return " (\(name))" }
        return " (\(name), \(rules.civilTime(at: due).time) there)"
    }

    private var reasons: [(word: String, sentence: String)] {
        var reasons = view.holds.map { hold in
            let zone =
                switch hold {
                case .timer(let due), .events(let due): clock(at: due)
                case .window(let effect, let opens):
                    Self.clock(named: effect.window?.zone, at: opens)
                case .ended, .deadEffect, .unsettled, .stuck, .retrying, .noWorker, .turnTrouble,
                    .unreadInputs, .overdue, .noDispatcher, .held, .noAccount, .dispatchTrouble,
                    .accountBusy, .dispatchBusy, .accountRate, .behind, .effect, .nothing:
                    ""
                }
            return (hold.word, hold.sentence(now: view.now, events: awaited) + zone)
        }
        if let definitionProblem, view.summary.endedAt == nil {
            reasons.insert(("definition", definitionProblem), at: 0)
        }
        return reasons
    }

    /// The run's row with `why`, `next_wake`, `effects` and `history`.
    var json: JSONValue {
        var object = view.summary.json.object ?? JSONObject()
        object["why"] = .array(
            reasons.map { ["hold": .string($0.word), "sentence": .string($0.sentence)] })
        object["next_wake"] = view.nextWake.map { .string($0.description) } ?? .null
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
        lines.append("Next wake \(view.nextWake.map { told($0, view.now) } ?? "none by time")")
        if !view.effects.isEmpty {
            lines += ["", "Effects"] + Self.split(EffectView.table(view.effects))
        }
        if !tail.isEmpty {
            lines += ["", tail.count < view.run.decisions ? "History (its end)" : "History"]
            lines += Self.split(Self.historyTable(tail, isWhole: false))
        }
        return lines
    }

    private static func split(_ table: Table) -> [String] {
        table.text(.table).split(separator: "\n").map { "  \($0)" }
    }

    /// A line an entry, and one for each attempt where it started.
    ///
    /// - Parameters:
    ///   - told: the attempts' entries.
    ///   - isWhole: also what was read.
    static func historyTable(
        _ rows: [HistoryRow], told: [(at: Instant, entry: JSONValue)] = [], isWhole: Bool = true
    ) -> Table {
        let lines = rows.map { (at: $0.at, number: $0.number, entries: $0.entries.array ?? []) }
        let made = told.map { (at: $0.at, number: -1, entries: [$0.entry]) }
        let ordered = (lines + made).enumerated().sorted {
            ($0.element.at, $0.offset) < ($1.element.at, $1.offset)
        }.map(\.element)
        return Table(
            columns: [
                Table.Column("AT", key: "at"),
                Table.Column("N", key: "decision", alignment: .right),
                Table.Column("WHAT", key: "what"), Table.Column("", key: "text"),
            ],
            rows: ordered.flatMap { row in
                row.entries.compactMap { entry -> JSONValue? in
                    guard let phrase = HistoryPhrase(entry), isWhole || phrase.isStory else {
                        return nil
                    }
                    return [
                        "at": .string(row.at.description),
                        "decision": row.number < 0 ? "" : .integer(row.number),
                        "what": .string(phrase.kind), "text": .string(phrase.text),
                    ]
                }
            }, idKey: "decision")
    }
}
