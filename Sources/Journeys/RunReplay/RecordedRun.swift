package import JSON
package import JourneyEngine
package import JourneyModel
package import JourneyTurns
package import TimeZones

/// What is kept of one run: the rows of its history, and the row that is derived from them.
package struct RecordedRun: Sendable, Hashable {
    package var id: RunID
    /// In the order of their numbers.
    package var decisions: [RecordedDecision]
    /// Nil where there is none to compare with.
    package var row: RunRow?

    package init(id: RunID, decisions: [RecordedDecision], row: RunRow? = nil) {
        self.id = id
        self.decisions = decisions
        self.row = row
    }

    /// A run as a turn left it, with the decisions of all its turns, as storage would keep them.
    package init(_ run: Run, decisions: [Decision]) {
        self.init(
            id: run.id,
            decisions: decisions.filter { $0.run == run.id }.map { RecordedDecision($0) },
            row: RunRow(run))
    }
}

/// One row of a run's history.
package struct RecordedDecision: Sendable, Hashable {
    /// From 1, without gaps.
    package var number: Int
    package var at: Instant
    /// `{"format", "entries", "seal"}`, as ``Decision/json`` wrote it.
    package var json: JSONObject

    package init(number: Int, at: Instant, json: JSONObject) {
        self.number = number
        self.at = at
        self.json = json
    }

    package init(_ decision: Decision) {
        self.init(
            number: decision.number, at: decision.at, json: decision.json.object ?? JSONObject())
    }

    /// The entries as stored; empty when the row holds none.
    package var entries: [JSONValue] { json["entries"]?.array ?? [] }
}

/// A run's row: its state, and the columns beside it.
package struct RunRow: Sendable, Hashable {
    package var run: Run
    package var status: String
    package var reason: String?
    package var step: String?
    package var endedAt: Instant?
    package var wakeAt: Instant?
    package var decisions: Int

    package init(
        run: Run, status: String, reason: String?, step: String?, endedAt: Instant?,
        wakeAt: Instant?, decisions: Int
    ) {
        self.run = run
        self.status = status
        self.reason = reason
        self.step = step
        self.endedAt = endedAt
        self.wakeAt = wakeAt
        self.decisions = decisions
    }

    /// The row that storage writes of a run.
    package init(_ run: Run) {
        self.init(
            run: run, status: run.status.word, reason: run.status.reason,
            step: run.position?.step.text, endedAt: run.endedAt,
            wakeAt: [run.position?.due, run.position?.reconsiderAt].compactMap(\.self).min(),
            decisions: run.decisions)
    }

    /// The columns and the state in one object, to be compared member by member.
    var json: JSONValue {
        [
            "status": .string(status), "reason": reason.map { .string($0) } ?? .null,
            "step": step.map { .string($0) } ?? .null,
            "ended_at": endedAt.map { .string($0.description) } ?? .null,
            "wake_at": wakeAt.map { .string($0.description) } ?? .null,
            "decisions": .integer(decisions), "state": .object(run.state),
        ]
    }
}
