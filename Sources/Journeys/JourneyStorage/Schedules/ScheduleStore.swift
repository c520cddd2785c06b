package import JourneyModel
package import JourneyTurns
package import Postgres
package import TimeZones

/// Firings of schedules: each is one row, walked over the customers once.
package struct ScheduleStore: Sendable {
    /// A firing that is under way.
    package struct Firing: Sendable, Hashable {
        package var workflow: WorkflowID
        /// The instant that the calendar names.
        package var plannedAt: Instant
        /// Customers a second, at most.
        package var rate: Int
        /// Customers asked so far.
        package var walked: Int64
    }

    /// What one page of a walk did.
    package struct Page: Sendable, Hashable {
        /// Inputs that were put in.
        package var asked: Int
        /// Whether every customer was passed.
        package var isLast: Bool
    }

    private let pool: PostgresPool

    /// Customers that one transaction passes.
    package static let pageLimit = 1_000

    package init(pool: PostgresPool) { self.pool = pool }

    /// The newest firing of each workflow that ever had one, whatever became of it, and the time.
    package func latest() async throws -> (firings: [WorkflowID: Instant], now: Instant) {
        try await pool.withTransaction { tx in
            let answers = try await tx.pipeline([(Self.readingLatest, []), (Self.readingTime, [])])
            var firings: [WorkflowID: Instant] = [:]
            for row in answers[0] {
                firings[WorkflowID(try row.string("workflow"))] = try row.instant("planned_at")
            }
            return (firings, try answers[1].only().instant("now"))
        }
    }

    /// Writes what a calendar says: firings that start, and those that are skipped, which are counted by
    /// their reason. A firing that is there already is left alone.
    package func write(_ plan: SchedulePlan) async throws {
        let all =
            plan.starting.map { ($0, nil as SchedulePlan.Skip?) }
            + plan.skipped.map { ($0.firing, $0) }
        if all.isEmpty { return }
        _ = try await pool.withTransaction(retries: 3) { tx in
            try await tx.pipeline([
                (
                    Self.inserting,
                    [
                        .textArray(all.map(\.0.workflow.text)),
                        .timestamptzArray(all.map(\.0.plannedAt)),
                        .int4Array(all.map { Int32(clamping: $0.0.rate) }),
                        .textArray(all.map { $0.0.environments.joined(separator: ",") }),
                        .textArray(all.map { $0.1?.reason }),
                        .int8Array(all.map { Int64($0.1?.count ?? 0) }),
                    ]
                )
            ])
        }
    }

    /// Firings that are not walked to their end, oldest first.
    package func walking() async throws(PostgresError) -> [Firing] {
        var firings: [Firing] = []
        for row in try await pool.query(Self.readingWalking, []) {
            firings.append(
                Firing(
                    workflow: WorkflowID(try row.string("workflow")),
                    plannedAt: try row.instant("planned_at"), rate: Int(try row.int32("rate")),
                    walked: try row.int64("walked")))
        }
        return firings
    }

    /// Asks the next customers of a firing, in the order of their numbers, in one transaction with the
    /// cursor: a process that dies in between leaves the page undone. Two walkers wait for one another.
    ///
    /// - Parameter limit: customers to pass, 1 to ``pageLimit``.
    package func walk(_ firing: Firing, limit: Int) async throws -> Page {
        precondition((1...Self.pageLimit).contains(limit), "a page of \(limit)")
        let input = ScheduleInput(workflow: firing.workflow, plannedAt: firing.plannedAt)
        return try await pool.withTransaction(retries: 3) { tx in
            let row = try await tx.query(
                Self.walking,
                [
                    .text(firing.workflow.text), .timestamptz(firing.plannedAt),
                    .int4(Int32(limit)), .text(input.text),
                ]
            ).only()
            return Page(asked: Int(try row.int64("asked")), isLast: try row.bool("is_last"))
        }
    }

    /// Sees to it that customers who have not met what was published last have a turn soon: the next
    /// `limit` of them, in one transaction with the cursor.
    ///
    /// - Returns: nil when there is nothing to walk.
    package func walkPublished(limit: Int) async throws -> Page? {
        precondition((1...Self.pageLimit).contains(limit), "a page of \(limit)")
        return try await pool.withTransaction(retries: 3) { tx in
            guard
                let row = try await tx.query(Self.walkingPublished, [.int4(Int32(limit))]).first
            else { return nil }
            return Page(asked: Int(try row.int64("asked")), isLast: try row.bool("is_last"))
        }
    }
}
