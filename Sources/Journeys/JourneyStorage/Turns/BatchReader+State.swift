internal import JourneyEngine
internal import JourneyModel
internal import JourneyTurns
internal import Postgres
internal import TimeZones

// What definitions ask of a customer beside runs.
extension BatchReader {
    mutating func takeSegments(_ rows: PostgresRows) throws(PostgresError) {
        for row in rows {
            let segment = SegmentID(try row.string("segment"))
            let since = try row.instant("entered_at")
            change(try row.customer()) { $0.segments[segment] = since }
        }
    }

    mutating func takeAssignments(_ rows: PostgresRows) throws(PostgresError) {
        for row in rows {
            let (experiment, variant) = (try row.string("experiment"), try row.string("variant"))
            change(try row.customer()) { $0.assignments[experiment] = variant }
        }
    }

    mutating func takeDates(_ rows: PostgresRows) throws(PostgresError) {
        for row in rows {
            let entry = DateEntry(
                key: DateEntry.Key(
                    workflow: WorkflowID(try row.string("workflow")),
                    subject: try row.string("subject")),
                date: try row.instant("date"), dueAt: try row.instant("due_at"),
                isPending: try row.bool("is_pending"))
            change(try row.customer()) { $0.dates.append(entry) }
        }
    }

    /// Takes in the events that questions are about, and notes from when on they are complete.
    ///
    /// - Parameters:
    ///   - since: events recorded from here on were asked for; nil for all.
    ///   - limit: at most so many a customer; who has as many may have more.
    mutating func takeHistory(
        _ rows: PostgresRows, since: Instant?, limit: Int
    ) throws(PostgresError) {
        var counts: [CustomerID: (count: Int, oldest: Instant)] = [:]
        for row in rows {
            let id = try row.customer()
            let at = try row.instant("recorded_at")
            let known = counts[id] ?? (0, at)
            counts[id] = (known.count + 1, min(known.oldest, at))
        }
        try takeLog(rows)
        for id in customers {
            // An event may be recorded up to a day before the time that it gives itself.
            var known = since.map { $0 + .seconds(86_400) } ?? .earliest
            if let found = counts[id], found.count >= limit {
                known = max(known, found.oldest + .seconds(86_400))
            }
            change(id) { $0.eventsKnownSince = known }
        }
    }

    /// Notes that events recorded before may have been let go. Who was made later has lost none.
    mutating func takeHorizon(_ since: Instant) {
        for id in customers {
            change(id) { draft in
                guard draft.record.createdAt < since else { return }
                // As above: an event may give itself a time up to a day after it was recorded.
                draft.eventsKnownSince = max(draft.eventsKnownSince, since + .seconds(86_400))
            }
        }
    }

    mutating func takeBodies(_ rows: PostgresRows) throws(PostgresError) {
        var bodies: [EventID: [UInt8]] = [:]
        for row in rows { bodies[EventID(try row.string("id"))] = try row.bytes("body") }
        for id in customers {
            change(id) { draft in
                for event in draft.log.values.map(\.event.id) {
                    if let body = bodies[event] { draft.bodies[event] = body }
                }
            }
        }
    }

    mutating func takeFeatures(_ features: [CustomerID: [String: FeatureFacts]]) {
        for (id, facts) in features { change(id) { $0.features = facts } }
    }
}

extension PostgresRow {
    fileprivate func customer() throws(PostgresError) -> CustomerID {
        CustomerID(try int64("customer"))
    }
}
