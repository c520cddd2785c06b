// What turns took and when, written down in debug builds for tests that re-run them.

#if DEBUG
    internal import Glibc
    internal import JourneyModel
    internal import JourneyTurns
    internal import Postgres
    internal import Synchronization

    /// The journal of a process started with `PROOF_TURN_JOURNAL` set: each turn writes, in its own
    /// transaction, which inputs it took, at which database time, and which versions were live. With the
    /// inputs themselves that is all a re-run needs: which timers fired follows from the time.
    ///
    /// A customer's turns are in the order of `place`, since a turn holds the customer's row.
    enum TurnJournal {
        static let isKept = getenv("PROOF_TURN_JOURNAL") != nil
        private static let isOpen = Atomic<Bool>(false)

        /// Makes the table, once a process.
        static func open(_ pool: PostgresPool) async throws(PostgresError) {
            if isOpen.load(ordering: .relaxed) { return }
            _ = try await pool.query(creating)
            isOpen.store(true, ordering: .relaxed)
        }

        /// Nil when there is nothing to write down.
        static func writing(
            _ results: [TurnResult], _ batch: LoadedBatch, _ set: DefinitionSet
        ) -> (SQLStatement, [PostgresValue])? {
            guard isKept, !results.isEmpty else { return nil }
            let whole = Set(batch.turns.filter(\.hasAllInputs).map(\.customer.id))
            let live = set.live.map { "\($0.workflow.text):\($0.number)" }
            return (
                inserting,
                [
                    .int8Array(results.map(\.customer.id.number)),
                    .textArray(
                        results.map { result in
                            "{" + result.takenInputs.map { "\($0)" }.joined(separator: ",") + "}"
                        }),
                    .boolArray(results.map { whole.contains($0.customer.id) }),
                    .timestamptz(batch.now), .textArray(live),
                ]
            )
        }

        /// Two processes may come at once; `if not exists` alone does not keep them apart.
        private static let creating = SQLStatement(
            "turn_journal_create",
            """
            do $$ begin
                perform pg_advisory_xact_lock(hashtext('journey.turn_journal'));
                create table if not exists journey.turn_journal (
                    place bigint generated always as identity primary key,
                    customer bigint not null,
                    at timestamptz not null,
                    inputs bigint[] not null,
                    has_all_inputs boolean not null,
                    live text[] not null
                );
            end $$
            """)

        private static let inserting = SQLStatement(
            "turn_journal_write",
            """
            insert into journey.turn_journal (customer, at, inputs, has_all_inputs, live)
            select t.customer, $4, t.inputs::bigint[], t.has_all_inputs, $5
            from unnest($1::bigint[], $2::text[], $3::boolean[])
                t (customer, inputs, has_all_inputs)
            """)
    }
#endif
