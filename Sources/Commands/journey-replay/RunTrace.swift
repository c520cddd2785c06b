internal import CommandLine
internal import JSON
internal import JourneyModel
internal import JourneyStorage
internal import TimeZones

/// A run as spans of time: the run, its visits of steps, the effects they asked for, and how long each
/// input took to be decided.
struct RunTrace: Sendable {
    /// One span; open while its end is nil.
    struct Span: Sendable, Hashable {
        /// 0 for the run, 1 for what it did, 2 for what that asked for, 3 for how often it was tried.
        var depth: Int
        /// `run`, `step`, `input`, `effect` or `attempt`.
        var kind: String
        var name: String
        var start: Instant
        var end: Instant?
        var outcome: String?

        var json: JSONValue {
            var json = JSONObject([
                ("start", .string(start.description)), ("kind", .string(kind)),
                ("name", .string(name)), ("depth", .integer(depth)),
            ])
            json["end"] = end.map { .string($0.description) }
            json["milliseconds"] = end.map { .integer(($0 - start).milliseconds) }
            json["outcome"] = outcome.map { .string($0) }
            return .object(json)
        }
    }

    private(set) var spans: [Span] = []

    init(
        _ run: RunSummary, _ history: [HistoryRow], _ effects: [EffectView],
        _ attempts: [AttemptView]
    ) {
        spans.append(
            Span(
                depth: 0, kind: "run", name: run.workflow.text, start: run.enteredAt,
                end: run.endedAt,
                outcome: [run.status, run.reason].compactMap(\.self).joined(separator: ": ")))
        var arrived = run.enteredAt
        var step: String?
        var requested: [String] = []
        func leave(_ name: String, at end: Instant?, by outcome: String?) {
            spans.append(
                Span(
                    depth: 1, kind: "step", name: name, start: arrived, end: end, outcome: outcome))
            for effect in effects where requested.contains(effect.invocation.text) {
                spans.append(Span(effect))
                spans += attempts.filter { $0.invocation == effect.invocation }.map { Span($0) }
            }
            requested = []
        }
        for row in history {
            for entry in row.entries.array ?? [] {
                switch entry["kind"]?.string {
                case "input":
                    if let span = Span(input: entry, decided: row.at) { spans.append(span) }
                case "requested":
                    if let invocation = entry["invocation"]?.string { requested.append(invocation) }
                case "waiting": step = entry["step"]?.string ?? step
                case "moved":
                    leave(
                        entry["from"]?.string ?? "?", at: row.at, by: entry["outlet"]?.string)
                    arrived = row.at
                    let next = entry["to"]?.string
                    step = next == "end" ? nil : next
                case "ended":
                    if let name = step { leave(name, at: row.at, by: entry["status"]?.string) }
                    step = nil
                default: continue
                }
            }
        }
        if let step { leave(step, at: nil, by: nil) }
    }

    /// - Parameter now: until when open spans are measured.
    func table(now: Instant) -> Table {
        Table(
            columns: [
                Table.Column("START", key: "start"),
                Table.Column("TOOK", key: "took", alignment: .right),
                Table.Column("WHAT", key: "what"), Table.Column("OUTCOME", key: "outcome"),
            ],
            rows: spans.map { span in
                var row = span.json.object ?? JSONObject()
                let mark = span.end == nil ? "+" : ""
                row["took"] = .string(Self.took(span.start, span.end ?? now) + mark)
                row["what"] = .string(
                    String(repeating: "  ", count: span.depth) + "\(span.kind) \(span.name)")
                return .object(row)
            }, idKey: "name")
    }

    /// `340 ms`, `12.5 s`, `3 h 20 min`, `2 d 4 h`.
    static func took(_ start: Instant, _ end: Instant) -> String {
        let whole = max(0, (end - start).milliseconds)
        let seconds = whole / 1_000
        return switch whole {
        case ..<1_000: "\(whole) ms"
        case ..<60_000: "\(seconds).\(whole % 1_000 / 100) s"
        case ..<3_600_000: "\(seconds / 60) min \(seconds % 60) s"
        case ..<86_400_000: "\(seconds / 3_600) h \(seconds % 3_600 / 60) min"
        default: "\(seconds / 86_400) d \(seconds % 86_400 / 3_600) h"
        }
    }
}

extension RunTrace.Span {
    fileprivate init(_ effect: EffectView) {
        self.init(
            depth: 2, kind: "effect",
            name: "\(effect.tool)\(effect.account.map { " to \($0)" } ?? "")",
            start: effect.requestedAt, end: effect.endedAt,
            outcome: "\(effect.status)\(effect.reason.map { ": \($0)" } ?? "") after "
                + counted(effect.attempts, "attempt"))
    }

    fileprivate init(_ attempt: AttemptView) {
        self.init(
            depth: 3, kind: "attempt", name: String(attempt.number), start: attempt.startedAt,
            end: attempt.endedAt, outcome: attempt.outcome)
    }

    /// From when an event was stored, or a timer was due, to its decision; nil for other inputs, whose
    /// wait is the effect's.
    fileprivate init?(input entry: JSONValue, decided: Instant) {
        let name = entry["name"]?.string
        let word = name == nil ? "timer" : "recorded_at"
        guard let start = entry[word]?.string.flatMap({ Instant($0) }) else { return nil }
        self.init(
            depth: 1, kind: "input", name: name ?? "timer", start: start, end: decided,
            outcome: entry["bound_by"]?.string.map { "taken by \($0)" })
    }
}

extension Duration {
    fileprivate var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }
}
