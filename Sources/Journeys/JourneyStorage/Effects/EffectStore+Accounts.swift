internal import Postgres
internal import TimeZones

// What all dispatchers together may start for an account. Whoever leases an account's effects holds its row
// of account_limits: so leases in force are counted, and the rate is spent, by one at a time.
extension EffectStore {
    /// What may be leased now, account by account.
    struct Room {
        var capacities: [EffectCapacity] = []
        /// When it is worth asking again although nothing was leased: another dispatcher was at an
        /// account just now, or a rate allows the next attempt then.
        var lookAgainAfter: Duration?
        /// Accounts that have no row yet.
        var missing: [EffectCapacity] = []

        mutating func lookAgain(after pause: Duration) {
            lookAgainAfter = min(lookAgainAfter ?? pause, pause)
        }
    }

    /// How soon an account is looked at again that another dispatcher was at, and how often at the most for
    /// its rate: a high one is then spent some attempts at a time.
    private static let busyPause = Duration.milliseconds(10)

    /// Locks the accounts that have something due and says what they have room for.
    static func room(
        _ capacities: [EffectCapacity], _ tx: PostgresTransaction
    ) async throws(PostgresError) -> Room {
        var room = Room(capacities: capacities.filter { $0.limits == nil })
        let limited = capacities.filter { $0.limits != nil }
        if limited.isEmpty { return room }
        let names: [PostgresValue] = [
            .textArray(limited.map(\.tool)), .textArray(limited.map { $0.account ?? "" }),
        ]
        // Two statements in one round trip: the second sees what the last holder of each row committed.
        let answers = try await tx.pipeline([(lockingAccounts, names), (countingLeases, names)])
        for (row, count) in zip(answers[0], answers[1]) {
            let place = Int(try row.int64("place")) - 1
            guard try row.bool("is_due"), limited.indices.contains(place) else { continue }
            var capacity = limited[place]
            guard let limits = capacity.limits else { continue }
            guard try row.bool("is_known") else {
                room.missing.append(capacity)
                continue
            }
            guard try row.bool("is_locked") else {
                room.lookAgain(after: busyPause)
                continue
            }
            let allowed = limits.allowance(idle: try count.int64("idle_us"))
            if allowed.attempts == 0 { room.lookAgain(after: max(allowed.more, busyPause)) }
            let held = Int(try count.int64("held"))
            capacity.free = min(capacity.free, limits.concurrency - held, allowed.attempts)
            if capacity.free > 0 { room.capacities.append(capacity) }
        }
        return room
    }

    /// Makes the rows of accounts that are leased for the first time.
    func make(_ missing: [EffectCapacity]) async throws(PostgresError) {
        _ = try await pool.query(
            Self.makingAccounts,
            [.textArray(missing.map(\.tool)), .textArray(missing.map { $0.account ?? "" })])
    }

    /// Lock order: as asked; it never waits, so that a dispatcher that hangs keeps up nobody but the
    /// accounts it is at.
    static let lockingAccounts = SQLStatement(
        "effect_lock_accounts",
        """
        with due as materialized (
            select k.tool, k.account, k.place,
                exists (
                    select from journey.effect_queue q
                    where q.tool = k.tool and q.account = k.account and q.due_at <= now()
                ) as is_due,
                exists (
                    select from journey.account_limits m
                    where m.tool = k.tool and m.account = k.account
                ) as is_known
            from unnest($1::text[], $2::text[]) with ordinality k (tool, account, place)
        )
        select d.place, d.is_due, d.is_known, m.tool is not null as is_locked
        from due d
        left join lateral (
            select m.tool
            from journey.account_limits m
            where d.is_due and m.tool = d.tool and m.account = d.account
            for update of m skip locked
        ) m on true
        order by d.place
        """)

    static let countingLeases = SQLStatement(
        "effect_count_leases",
        """
        select k.place,
            coalesce(
                least(extract(epoch from clock_timestamp() - m.rate_from) * 1000000, 1e15), 0
            )::bigint as idle_us,
            (
                select count(*)
                from journey.effect_queue q
                where q.tool = k.tool and q.account = k.account and q.lease_until is not null
                    and q.lease_until > clock_timestamp()
            ) as held
        from unnest($1::text[], $2::text[]) with ordinality k (tool, account, place)
        left join journey.account_limits m on m.tool = k.tool and m.account = k.account
        order by k.place
        """)

    static let makingAccounts = SQLStatement(
        "effect_make_accounts",
        """
        insert into journey.account_limits (tool, account)
        select tool, account from unnest($1::text[], $2::text[]) k (tool, account)
        order by tool, account
        on conflict do nothing
        """)
}
