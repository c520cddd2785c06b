internal import CommandLine
internal import JSON
internal import TimeZones

/// What happened to one customer, from all that is kept about them, in the order of time.
struct Timeline: Sendable {
    /// One line of it.
    struct Line: Sendable, Hashable {
        let at: Instant
        /// Lines of one instant follow the order in which causes lead to effects.
        let rank: Int
        /// `delivery`, `event`, a history kind, `attempt`, `effect`, or `due`.
        let what: String
        /// The run it belongs to.
        var run: String?
        var workflow: String?
        let text: String

        /// `{"at", "what", "run"?, "workflow"?, "text"}`.
        var json: JSONValue {
            var object = JSONObject([("at", .string(at.description)), ("what", .string(what))])
            object["run"] = run.map { .string($0) }
            object["workflow"] = workflow.map { .string($0) }
            object["text"] = .string(text)
            return .object(object)
        }
    }

    private(set) var lines: [Line] = []

    /// A request that came in.
    mutating func addDelivery(_ id: String, connector: String, at: Instant, state: String?) {
        lines.append(
            Line(
                at: at, rank: 0, what: "delivery",
                text: "\(id) from \(connector)" + (state.map { " (\($0))" } ?? "")))
    }

    /// A fact that a turn took in.
    mutating func addEvent(
        _ name: String, connector: String, at: Instant, occurredAt: Instant
    ) {
        // A provider that tells of something long after explains what looks wrong otherwise.
        let late = at - occurredAt >= .seconds(60) ? ", occurred \(occurredAt)" : ""
        lines.append(
            Line(at: at, rank: 1, what: "event", text: "\(name) (\(connector))\(late)"))
    }

    /// A decision of a run, one line an entry.
    mutating func addDecision(
        of run: String, workflow: String, at: Instant, entries: JSONValue
    ) {
        for entry in entries.array ?? [] {
            guard let phrase = HistoryPhrase(entry), phrase.isStory else { continue }
            // The event log and the effects tell the same, with more.
            if phrase.kind == "input", entry["name"] != nil, entry["bound_by"] == nil { continue }
            lines.append(
                Line(
                    at: at, rank: 2, what: phrase.kind, run: run, workflow: workflow,
                    text: phrase.text))
        }
    }

    /// An attempt of an effect, at its start.
    mutating func addAttempt(
        _ number: Int, of invocation: String, run: String, workflow: String?, at: Instant,
        outcome: String?
    ) {
        lines.append(
            Line(
                at: at, rank: 3, what: "attempt", run: run, workflow: workflow,
                text: "\(HistoryPhrase.short(invocation)) attempt \(number): "
                    + (outcome ?? "in flight")))
    }

    /// The end of an effect.
    mutating func addEffectEnd(
        _ invocation: String, step: String, run: String, workflow: String?, at: Instant,
        status: String, reason: String?
    ) {
        lines.append(
            Line(
                at: at, rank: 4, what: "effect", run: run, workflow: workflow,
                text: "\(HistoryPhrase.short(invocation)) of \(step) \(status)"
                    + (reason.map { ": \($0)" } ?? "")))
    }

    /// When a live run will move by itself.
    mutating func addDue(run: String, workflow: String, step: String?, at: Instant) {
        lines.append(
            Line(
                at: at, rank: 5, what: "due", run: run, workflow: workflow,
                text: "will be looked at\(step.map { " at \($0)" } ?? "")"))
    }

    /// By time, causes before effects, otherwise as they were added.
    var ordered: [Line] {
        lines.enumerated().sorted {
            ($0.element.at, $0.element.rank, $0.offset) < (
                $1.element.at, $1.element.rank, $1.offset
            )
        }.map(\.element)
    }

    /// The newest lines, oldest first.
    func table(last count: Int) -> Table {
        Table(
            columns: [
                Table.Column("AT", key: "at"), Table.Column("WHAT", key: "what"),
                Table.Column("RUN", key: "short_run"), Table.Column("WORKFLOW", key: "workflow"),
                Table.Column("", key: "text"),
            ],
            rows: ordered.suffix(count).map { line in
                guard var object = line.json.object else { return line.json }
                object["short_run"] = line.run.map { .string(HistoryPhrase.short($0)) }
                return .object(object)
            }, idKey: "run")
    }
}
