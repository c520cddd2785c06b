internal import JourneyStorage
internal import Locks
internal import Postgres
internal import Telemetry
internal import TimeZones

/// What the database knows of the backlog, read when metrics are asked for.
struct StorageGauges: Sendable {
    private let store: BacklogStore
    private let pool: PostgresPool
    private let log: Log
    private let connections: Gauge
    private let counts: Gauge
    private let ages: Gauge
    private let accounts: Gauge
    /// Accounts seen so far: those that have nothing any more show zero.
    private let seen = Guarded<Set<[String]>>([])

    init(store: BacklogStore, pool: PostgresPool, metrics: Metrics, log: Log) {
        self.store = store
        self.pool = pool
        self.log = log
        connections = metrics.gauge(
            "journey_database_connections",
            help: "Connections to the database, and callers that wait for one.", labels: ["state"])
        counts = metrics.gauge(
            "journey_backlog", help: "What waits or stands still, by kind.", labels: ["kind"])
        accounts = metrics.gauge(
            "journey_account_effects",
            help: "Effects that wait for an attempt, or whose attempt is under way, by account.",
            labels: ["tool", "account", "state"])
        ages = metrics.gauge(
            "journey_backlog_age_seconds", help: "Age of the oldest that waits, by kind.",
            labels: ["kind"])
    }

    func refresh() async {
        let use = await pool.statistics
        for (state, count) in [
            ("most", use.size), ("open", use.open), ("in_use", use.inUse),
            ("waited_for", use.waiting),
        ] {
            connections.set(Double(count), labels: [state])
        }
        do throws(PostgresError) {
            let backlog = try await store.backlog()
            for (kind, count, oldest) in [
                ("unread_inputs", backlog.unreadInputs, backlog.oldestUnread),
                ("unrouted_inputs", backlog.unrouted, backlog.oldestUnrouted),
                ("overdue_timers", backlog.overdueTimers, backlog.oldestTimer),
                ("due_effects", backlog.dueEffects, backlog.oldestEffect),
                ("leased_effects", backlog.leasedEffects, nil),
                ("retried_customers", backlog.retriedCustomers, nil),
                ("stuck_customers", backlog.stuckCustomers, nil),
                ("unassigned_inputs", backlog.unassigned, nil),
            ] as [(String, Int, Instant?)] {
                counts.set(Double(count), labels: [kind])
                let age = oldest.map { max(0, (backlog.now - $0) / .seconds(1)) } ?? 0
                ages.set(age, labels: [kind])
            }
            note(backlog.accounts)
        } catch {
            log.warning(
                "the backlog could not be measured; its gauges keep their last values",
                ["reason": .text("\(error)")])
        }
    }

    private func note(_ backlogs: [BacklogStore.AccountBacklog]) {
        var gone = seen.withLock { seen in
            let before = seen
            seen.formUnion(backlogs.map { [$0.tool, $0.account] })
            return before
        }
        for backlog in backlogs {
            let name = [backlog.tool, backlog.account]
            gone.remove(name)
            accounts.set(Double(backlog.waiting), labels: name + ["waiting"])
            accounts.set(Double(backlog.leased), labels: name + ["under_way"])
        }
        for name in gone {
            for state in ["waiting", "under_way"] { accounts.set(0, labels: name + [state]) }
        }
    }
}
