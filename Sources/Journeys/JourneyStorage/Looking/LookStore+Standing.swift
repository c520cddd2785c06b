package import JourneyModel
internal import Postgres

extension LookStore {
    /// Live runs of a workflow, of all its versions, by the step they stand at.
    ///
    /// - Parameter environment: whose runs; nil for all.
    package func standing(
        in workflow: WorkflowID, environment: String?
    ) async throws -> [StepID: Int] {
        try await look { tx in
            var standing: [StepID: Int] = [:]
            let rows = try await tx.query(
                Self.countingStanding, [.text(workflow.text), .optional(environment)])
            for row in rows {
                standing[StepID(try row.string("step"))] = Int(try row.int64("count"))
            }
            return standing
        }
    }

    private static let countingStanding = SQLStatement(
        "look_standing",
        """
        select step, count(*) as count from journey.runs
        where workflow = $1 and ended_at is null and step is not null
            and ($2::text is null or environment = $2)
        group by step
        """)
}
