internal import JSON
package import Postgres
internal import TimeZones

/// Where the worker's processes tell of themselves.
package struct ProcessStore: Sendable {
    private let pool: PostgresPool

    /// How often a process tells of itself.
    package static let pause = Duration.seconds(10)
    /// Processes that a look shows.
    static let listLimit: Int32 = 200

    package init(pool: PostgresPool) { self.pool = pool }

    /// Says that the process is there and how it stands. What ended days ago is forgotten.
    package func tell(_ process: WorkerProcess) async throws(PostgresError) {
        _ = try await pool.query(
            Self.telling,
            [
                .text(process.id), .text(storable(process.host)),
                .textArray(process.roles.map(\.rawValue).sorted()), .bool(process.holdsEffects),
                .int4(Int32(clamping: process.dispatchConcurrency)),
                .text(JSONValue.array(process.accounts.map(\.json)).text),
                .optional(process.turnAt), .optional(process.turnTrouble.map(Self.brief)),
                .optional(process.dispatchTrouble.map(Self.brief)),
            ])
    }

    /// Says that the process takes up nothing more.
    package func end(_ id: String) async throws(PostgresError) {
        _ = try await pool.query(Self.ending, [.text(id)])
    }

    private static func brief(_ sentence: String) -> String {
        storable(String(sentence.prefix(500)))
    }

    static let telling = SQLStatement(
        "process_tell",
        """
        with old as (
            delete from journey.processes p
            where p.seen_at < clock_timestamp() - interval '1 day' and p.id <> $1
        )
        insert into journey.processes (
            id, host, roles, holds_effects, dispatch_concurrency, accounts, turn_at, turn_trouble,
            dispatch_trouble
        )
        values ($1, $2, $3::text[], $4, $5, $6::json, $7, $8, $9)
        on conflict (id) do update
        set seen_at = excluded.seen_at, turn_at = coalesce(excluded.turn_at, processes.turn_at),
            turn_trouble = excluded.turn_trouble, dispatch_trouble = excluded.dispatch_trouble
        """, timeout: .seconds(5))

    static let ending = SQLStatement(
        "process_end",
        """
        update journey.processes
        set ended_at = date_trunc('milliseconds', clock_timestamp()),
            seen_at = date_trunc('milliseconds', clock_timestamp())
        where id = $1
        """, timeout: .seconds(5))

    static let listing = SQLStatement(
        "look_processes",
        """
        select p.id, p.host, array_to_string(p.roles, ',') as roles, p.holds_effects, p.dispatch_concurrency, p.accounts,
            p.started_at, p.seen_at, p.ended_at, p.turn_at, p.turn_trouble, p.dispatch_trouble
        from journey.processes p
        order by p.ended_at is null desc, p.seen_at desc, p.id
        limit $1
        """)

    static func read(_ row: PostgresRow) throws -> WorkerProcess {
        let id = try row.string("id")
        var process = WorkerProcess(
            id: id, host: try row.string("host"),
            roles: Set(
                try row.string("roles").split(separator: ",").compactMap {
                    WorkerProcess.Role(rawValue: String($0))
                }),
            holdsEffects: try row.bool("holds_effects"),
            dispatchConcurrency: Int(try row.int32("dispatch_concurrency")),
            accounts: try JSONParser.parse(try row.json("accounts")).array?.compactMap {
                WorkerProcess.Account(json: $0)
            } ?? [])
        process.startedAt = try row.instant("started_at")
        process.seenAt = try row.instant("seen_at")
        process.endedAt = try row.instantOrNil("ended_at")
        process.turnAt = try row.instantOrNil("turn_at")
        process.turnTrouble = try row.stringOrNil("turn_trouble")
        process.dispatchTrouble = try row.stringOrNil("dispatch_trouble")
        return process
    }
}

extension LookStore {
    /// The worker's processes: those that are there first, then the last seen.
    package func processes() async throws -> [WorkerProcess] {
        try await look { tx in
            try await tx.query(ProcessStore.listing, [.int4(ProcessStore.listLimit)])
                .map { try ProcessStore.read($0) }
        }
    }
}

extension WorkerProcess.Account {
    fileprivate var json: JSONValue {
        var json = JSONObject([("tool", .string(tool)), ("name", .string(name))])
        json["concurrency"] = concurrency.map { .integer($0) }
        // Text: a rate is a fraction, and read only by this room.
        json["rate"] = ratePerSecond.map { .string("\($0)") }
        return .object(json)
    }

    fileprivate init?(json: JSONValue) {
        guard let tool = json["tool"]?.string, let name = json["name"]?.string else { return nil }
        self.init(
            tool: tool, name: name, concurrency: json["concurrency"]?.integer.map { Int($0) },
            ratePerSecond: json["rate"]?.string.flatMap { Double($0) })
    }
}
