package import Postgres
package import TimeZones

/// What waits and what is stuck, for metrics and alarms (S20). Each question reads small, hot tables.
package struct BacklogStore: Sendable {
    /// Counts and ages at one moment.
    package struct Backlog: Sendable, Hashable {
        /// Inputs that belong to a customer and were not taken by a turn; at most ``countLimit``.
        package var unreadInputs = 0
        package var oldestUnread: Instant?
        /// Inputs that wait to be routed; at most ``countLimit``.
        package var unrouted = 0
        package var oldestUnrouted: Instant?
        /// Timers past their due time; at most ``countLimit``.
        package var overdueTimers = 0
        package var oldestTimer: Instant?
        /// Effects whose attempt is due.
        package var dueEffects = 0
        package var oldestEffect: Instant?
        /// Attempts in flight.
        package var leasedEffects = 0
        /// Effects that wait or are attempted, by tool and account; the 200 with the most.
        package var accounts: [AccountBacklog] = []
        /// Customers whose turn failed and is to be tried again.
        package var retriedCustomers = 0
        /// Customers that stand still until an operator acts.
        package var stuckCustomers = 0
        /// Inputs without a usable id.
        package var unassigned = 0
        /// The database's time of all this.
        package var now = Instant.earliest

        package init() {}
    }

    /// What one account has before it.
    package struct AccountBacklog: Sendable, Hashable {
        package var tool: String
        /// Empty for a tool without account.
        package var account: String
        /// Effects whose next attempt is not under way.
        package var waiting: Int
        /// Attempts under way.
        package var leased: Int
    }

    /// Where counting stops: more than this is a backlog, whatever its size.
    package static let countLimit = 100_000

    private let pool: PostgresPool

    package init(pool: PostgresPool) { self.pool = pool }

    /// Measures once, in one round trip.
    package func backlog() async throws(PostgresError) -> Backlog {
        let limit = PostgresValue.int4(Int32(Self.countLimit))
        let answers = try await pool.pipeline([
            (Self.countingInbox, [limit]), (Self.countingTimers, [limit]),
            (Self.countingEffects, []), (Self.countingAside, [limit]),
            (Self.countingAccounts, []),
        ])
        var backlog = Backlog()
        let inbox = try answers[0].only()
        backlog.now = try inbox.instant("now")
        backlog.unreadInputs = Int(try inbox.int64("unread"))
        backlog.oldestUnread = try inbox.instantOrNil("oldest_unread")
        backlog.unrouted = Int(try inbox.int64("unrouted"))
        backlog.oldestUnrouted = try inbox.instantOrNil("oldest_unrouted")
        let timers = try answers[1].only()
        backlog.overdueTimers = Int(try timers.int64("overdue"))
        backlog.oldestTimer = try timers.instantOrNil("oldest")
        let effects = try answers[2].only()
        backlog.dueEffects = Int(try effects.int64("due"))
        backlog.oldestEffect = try effects.instantOrNil("oldest")
        backlog.leasedEffects = Int(try effects.int64("leased"))
        let aside = try answers[3].only()
        backlog.retriedCustomers = Int(try aside.int64("retried"))
        backlog.stuckCustomers = Int(try aside.int64("stuck"))
        backlog.unassigned = Int(try aside.int64("unassigned"))
        for row in answers[4] {
            backlog.accounts.append(
                AccountBacklog(
                    tool: try row.string("tool"), account: try row.string("account"),
                    waiting: Int(try row.int64("waiting")), leased: Int(try row.int64("leased"))))
        }
        return backlog
    }

    static let countingInbox = SQLStatement(
        "backlog_inbox",
        """
        select date_trunc('milliseconds', clock_timestamp()) as now,
            (
                select count(*)
                from (select from journey.inbox i where i.customer is not null limit $1) n
            ) as unread,
            (
                select i.recorded_at from journey.inbox i where i.customer is not null
                order by i.recorded_at, i.sequence limit 1
            ) as oldest_unread,
            (
                select count(*)
                from (select from journey.inbox i where i.customer is null limit $1) n
            ) as unrouted,
            (
                select i.recorded_at from journey.inbox i where i.customer is null
                order by i.recorded_at, i.sequence limit 1
            ) as oldest_unrouted
        """)

    static let countingTimers = SQLStatement(
        "backlog_timers",
        """
        select count(*) as overdue, min(d.due_at) as oldest
        from (
            select t.due_at from journey.timers t
            where t.due_at <= now()
            order by t.due_at, t.customer
            limit $1
        ) d
        """)

    /// A lease in force is due when it ends, a moment from now: leases are counted among the rows that
    /// become due next.
    static let countingEffects = SQLStatement(
        "backlog_effects",
        """
        select count(*) filter (where q.due_at <= now()) as due,
            min(q.due_at) filter (where q.due_at <= now()) as oldest,
            count(*) filter (where q.lease_until > now()) as leased
        from journey.effect_queue q
        """)

    static let countingAside = SQLStatement(
        "backlog_aside",
        """
        select
            (
                select count(*) from journey.set_aside s where s.retry_at is not null
            ) as retried,
            (select count(*) from journey.set_aside s where s.retry_at is null) as stuck,
            (select count(*) from (select from journey.unassigned limit $1) n) as unassigned
        """)

    static let countingAccounts = SQLStatement(
        "backlog_accounts",
        """
        select q.tool, q.account,
            count(*) filter (where q.lease_until is null or q.lease_until <= now()) as waiting,
            count(*) filter (where q.lease_until > now()) as leased
        from journey.effect_queue q
        group by q.tool, q.account
        order by count(*) desc, q.tool, q.account
        limit 200
        """)
}
