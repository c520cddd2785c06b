internal import CommandLine
internal import JSON
internal import JourneyModel
internal import JourneyStorage
internal import Postgres
internal import TimeZones

extension ReplayCall {
    // MARK: cancel

    func cancel() async throws {
        let reason = try changeReason()
        let selector = try selector("RUN", known: CommandSpecification.cancelTerms)
        try requireSelection(selector, "RUN")
        try await withDatabase(changes: true) { pool in
            let look = LookStore(pool: pool)
            let runs = try await liveRuns(selector, in: look)
            guard
                try mayChange(
                    RunSummary.table(runs), "run", question: "Cancel \(counted(runs.count, "run"))?"
                )
            else { return }
            try await issue(
                .cancel,
                runs.map { CommandStore.Target(customer: $0.customer, run: $0.id) },
                request(reason, selected: runs.map(\.id.text), of: "run"),
                in: CommandStore(pool: pool),
                WakeStore(pool: pool))
        }
    }

    /// Only live runs: nothing can be done to others.
    private func liveRuns(_ selector: Selector, in look: LookStore) async throws -> [RunSummary] {
        if !selector.ids.isEmpty {
            var runs: [RunSummary] = []
            for id in selector.ids {
                let run = try await find(id, in: look)
                if run.endedAt != nil {
                    throw ReplayFailure.refused(
                        "The run \(run.id) has ended (\(run.status)); leave it out.")
                }
                if !runs.contains(where: { $0.id == run.id }) { runs.append(run) }
            }
            return runs
        }
        var filter = RunFilter()
        filter.status = "waiting"
        filter.workflow = selector[.workflow]
        filter.version = selector[.version].flatMap { Int($0) }
        filter.customer = selector[.customer]
        filter.environment = selector[.environment] ?? parsed.option("environment") ?? "production"
        filter.app = parsed.option("app")
        filter.key = selector[.key]
        filter.step = selector[.step]
        filter.since = selector.since
        filter.until = selector.until
        return try await bounded(try await look.runs(filter, upTo: CommandStore.batchLimit + 1))
    }

    private func bounded<Row>(_ rows: [Row]) async throws -> [Row] {
        if rows.count <= CommandStore.batchLimit { return rows }
        throw ReplayFailure.refused(
            "More than \(CommandStore.batchLimit) are selected; narrow with --where and take them in "
                + "several calls.")
    }

    // MARK: retry

    func retry() async throws {
        if parsed.flag("stuck") { return try await retryStuck() }
        try await retryDead()
    }

    func retryDead() async throws {
        let reason = try changeReason()
        try await withDead { dead, pool in
            let able = dead.filter(\.isRepairable)
            if able.isEmpty, !dead.isEmpty {
                throw ReplayFailure.refused(
                    "The runs of \(counted(dead.count, "effect")) went on without it; attempting it "
                        + "again could not reach them. Settle it with journey-replay dead discard.")
            }
            guard
                try mayChange(
                    DeadEffect.table(able), "effect",
                    question: "Attempt \(counted(able.count, "effect")) again?")
            else { return }
            let told = able.filter { $0.account == OutboundKind.account }
            if !told.isEmpty { try await tellAgain(told, reason, pool) }
            let awaited = able.filter { $0.account != OutboundKind.account }
            if awaited.isEmpty { return }
            try await issue(
                .retry,
                awaited.map {
                    CommandStore.Target(
                        customer: $0.customer, run: $0.run, invocation: $0.invocation)
                }, request(reason, selected: awaited.map(\.invocation.text), of: "effect"),
                in: CommandStore(pool: pool),
                WakeStore(pool: pool))
        }
    }

    private func tellAgain(
        _ events: [DeadEffect], _ reason: String, _ pool: PostgresPool
    ) async throws {
        let (audit, count) = try await CommandStore(pool: pool).tellAgain(
            events.map(\.invocation),
            request(reason, selected: events.map(\.invocation.text), of: "effect"))
        try? await WakeStore(pool: pool).notify(.effects)
        terminal.error.writeLine(
            "\(counted(count, "run event")) to be told again; audit \(audit).")
    }

    private func retryStuck() async throws {
        let reason = try changeReason()
        let selector = try selector("EFFECT", known: [.customer, .environment])
        guard selector.ids.isEmpty else {
            throw UsageError(
                path: parsed.path, "--stuck takes customers: write --where customer=ID, or --all.")
        }
        try requireSelection(selector, "EFFECT")
        try await withDatabase(changes: true) { pool in
            let environment = selector[.environment] ?? parsed.option("environment")
            let stuck = try await LookStore(pool: pool).stuck(
                customer: selector[.customer], environment: environment,
                app: parsed.option("app"), limit: CommandStore.batchLimit)
            guard
                try mayChange(
                    StuckCustomer.table(stuck), "stuck customer",
                    question: "Try the turns of \(counted(stuck.count, "customer")) again?")
            else { return }
            let (audit, count) = try await CommandStore(pool: pool).free(
                stuck.map(\.customer),
                request(reason, selected: stuck.map(\.customer.description), of: "customer"))
            try? await WakeStore(pool: pool).notify(.turns)
            terminal.error.writeLine("\(counted(count, "customer")) set free; audit \(audit).")
        }
    }

    // MARK: dead

    func listDead() async throws {
        let selector = try deadSelector()
        try await withDatabase { pool in
            let look = LookStore(pool: pool)
            printTable(
                DeadEffect.table(try await dead(selector, selector.limit, in: look)),
                limit: selector.limit)
        }
    }

    func discardDead() async throws {
        let reason = try changeReason()
        try await withDead { dead, pool in
            guard
                try mayChange(
                    DeadEffect.table(dead), "effect",
                    question: "Settle \(counted(dead.count, "effect"))?")
            else { return }
            let (audit, count) = try await CommandStore(pool: pool).discard(
                dead.map(\.invocation),
                request(reason, selected: dead.map(\.invocation.text), of: "effect"))
            let sum = "\(counted(count, "effect")) settled; audit \(audit)."
            if count < dead.count { throw ReplayFailure(.partly, sum) }
            terminal.error.writeLine(sum)
        }
    }

    private func deadSelector() throws(UsageError) -> Selector {
        try selector(
            "EFFECT", known: CommandSpecification.deadTerms,
            statuses: ["failed", "timed_out", "expired", "unknown"])
    }

    private func withDead(
        _ body: ([DeadEffect], PostgresPool) async throws -> Void
    ) async throws {
        let selector = try deadSelector()
        try requireSelection(selector, "EFFECT")
        try await withDatabase(changes: true) { pool in
            let found = try await dead(
                selector, CommandStore.batchLimit + 1, in: LookStore(pool: pool))
            try await body(try await bounded(found), pool)
        }
    }

    /// Dead effects by their own ids, their runs' ids, or terms.
    private func dead(
        _ selector: Selector, _ limit: Int, in look: LookStore
    ) async throws -> [DeadEffect] {
        var filter = DeadFilter()
        filter.isAmbiguous = parsed.flag("ambiguous")
        filter.customer = selector[.customer]
        filter.environment = selector[.environment] ?? parsed.option("environment")
        filter.app = parsed.option("app")
        filter.workflow = selector[.workflow]
        filter.step = selector[.step]
        filter.status = selector[.status]
        filter.error = selector[.error]
        filter.since = selector.since
        filter.until = selector.until
        filter.limit = limit
        if selector.ids.isEmpty { return try await look.dead(filter) }
        var found: [DeadEffect] = []
        for id in selector.ids {
            for effect in try await dead(id, filter, in: look)
            where !found.contains(where: { $0.invocation == effect.invocation }) {
                found.append(effect)
            }
        }
        return found
    }

    private func dead(
        _ id: String, _ filter: DeadFilter, in look: LookStore
    ) async throws -> [DeadEffect] {
        var filter = filter
        let named = try await look.effectLookup.find(id, parsed.path)
        let fact: String
        switch named {
        case .effect(let effect):
            filter.invocations = [effect.invocation.text]
            fact =
                "The effect \(effect.invocation) is not dead: it is \(effect.status)"
                + (effect.discarded.map { ", and was settled under audit \($0)" } ?? "")
        case .run(let run):
            filter.run = run.id
            fact = "No effect of the run \(run.id) is dead"
        }
        let effects = try await look.dead(filter)
        if !effects.isEmpty { return effects }
        throw ReplayFailure.notFound("\(fact); journey-replay dead list shows those that are.")
    }
}

extension DeadEffect {
    var json: JSONValue {
        var row = JSONObject([
            ("id", .string(invocation.text)), ("workflow", .string(workflow.text)),
            ("step", .string(step.text)), ("tool", .string(tool)),
        ])
        row["account"] = account.map { .string($0) }
        row["status"] = .string(status)
        row["error"] = error.map { .string($0) }
        row["attempts"] = .integer(attempts)
        row["repairable"] = .bool(isRepairable)
        row["customer"] = .integer(customer.number)
        row["ended_at"] = endedAt.map { .string($0.description) }
        row["run"] = .string(run.text)
        return .object(row)
    }

    static func table(_ effects: [DeadEffect]) -> Table {
        Table(
            columns: [
                Table.Column("ENDED", key: "ended_at"), Table.Column("WORKFLOW", key: "workflow"),
                Table.Column("STEP", key: "step"), Table.Column("ACCOUNT", key: "account"),
                Table.Column("STATUS", key: "status"), Table.Column("ERROR", key: "error"),
                Table.Column("ATTEMPTS", key: "attempts", alignment: .right),
                Table.Column("REPAIRABLE", key: "repairable"), Table.Column("RUN", key: "run"),
                Table.Column("EFFECT", key: "id"),
            ], rows: effects.map(\.json))
    }
}

extension StuckCustomer {
    static func table(_ customers: [StuckCustomer]) -> Table {
        Table(
            columns: [
                Table.Column("CUSTOMER", key: "id", alignment: .right),
                Table.Column("ENVIRONMENT", key: "environment"),
                Table.Column("SINCE", key: "since"),
                Table.Column("ATTEMPTS", key: "attempts", alignment: .right),
                Table.Column("ERROR", key: "error"),
            ],
            rows: customers.map {
                [
                    "id": .integer($0.customer.number), "environment": .string($0.environment),
                    "since": .string($0.since.description), "attempts": .integer($0.attempts),
                    "error": .string($0.error),
                ]
            })
    }
}
