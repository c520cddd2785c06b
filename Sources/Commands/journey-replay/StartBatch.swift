internal import CommandLine
internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import JourneyStorage
internal import JourneyTurns
internal import Postgres
internal import Reactor
internal import TimeZones
internal import WorkflowDefinitions

// Starting many: who is selected is found first and counted, then asked page by page under one cause.
extension ReplayCall {
    /// Customers that one call starts; their numbers are held meanwhile.
    private static let mostStarted = 5_000_000

    func start(
        _ wish: StartWish, among selection: StartSelection, of set: DefinitionSet,
        _ pool: PostgresPool
    ) async throws {
        let rate = try parsed.integer("rate", in: 1...100_000) ?? 500
        let (chosen, first) = try await choose(selection, of: set, pool)
        let table = Table(
            columns: [
                Table.Column("CUSTOMER", key: "customer"),
                Table.Column("ID", key: "id", alignment: .right),
            ], rows: first)
        guard
            try mayChange(
                table, of: chosen.count, "customer",
                question: "Start \(wish.workflow) for \(counted(chosen.count, "customer"))?")
        else { return }
        let store = StartStore(pool: pool)
        let audit = try await store.record(auditRequest(wish, selected: chosen.count))
        terminal.error.writeLine(
            printable(
                "The batch is \(wish.cause); --idempotency-key \(wish.cause) goes on where it is broken "
                    + "off."))
        var sum = StartStore.Page()
        var asked = 0
        let pageSize = min(LookStore.pageLimit, rate)
        let began = ContinuousClock.now
        do {
            while asked < chosen.count {
                let page = Array(chosen[asked..<min(asked + pageSize, chosen.count)])
                sum.add(
                    try await store.start(
                        page, wish.input(), perSubscription: wish.isPerSubscription,
                        allowsAnother: wish.entry.whenLive != .ignore))
                asked += page.count
                // Who is not told looks by itself.
                try? await WakeStore(pool: pool).notify(.turns)
                let due = began + .milliseconds(Int64(asked) * 1_000 / Int64(rate))
                let left = due - ContinuousClock.now
                if asked != chosen.count, left > .zero { try await command.loop.sleep(for: left) }
            }
        } catch {
            throw ReplayFailure(
                .partly,
                "Broken off after \(asked) of \(counted(chosen.count, "customer")): \(error); the same "
                    + "call with --idempotency-key \(wish.cause) goes on, and starts nobody twice.")
        }
        tell(sum, wish, audit)
    }

    private func tell(_ sum: StartStore.Page, _ wish: StartWish, _ audit: Int64) {
        let row: JSONValue = [
            "batch": .string(wish.cause), "asked": .integer(sum.queued), "live": .integer(sum.live),
            "before": .integer(sum.before), "without_subscription": .integer(sum.without),
            "audit": .integer(audit),
        ]
        let columns = ["asked", "live", "before", "without_subscription", "audit"].map {
            Table.Column($0.uppercased(), key: $0, alignment: .right)
        }
        terminal.output.write(
            Table(
                columns: [Table.Column("BATCH", key: "batch")] + columns, rows: [row],
                idKey: "batch"
            ).text(format(), emphasis: terminal.usesColour))
        terminal.error.writeLine(
            "\(counted(sum.queued, "run")) asked for; each customer's next turn decides."
                + (sum.live > 0 ? " \(sum.live) are live already (--supersede ends them)." : "")
                + (sum.before > 0 ? " \(sum.before) were asked for before." : "")
                + (sum.without > 0 ? " \(sum.without) have no subscription." : ""))
    }

    private func auditRequest(_ wish: StartWish, selected count: Int) -> CommandStore.Request {
        var request = request(wish.reason, selected: count)
        request.detail["what"] = "customer"
        request.detail["workflow"] = .string(wish.workflow.text)
        request.detail["cause"] = .string(wish.cause)
        if let segment = parsed.option("segment") { request.detail["segment"] = .string(segment) }
        if let path = parsed.option("if") { request.detail["if"] = .string(path) }
        return request
    }

    // MARK: Who is selected

    /// - Returns: their numbers in order, and the first ten as they are shown.
    private func choose(
        _ selection: StartSelection, of set: DefinitionSet, _ pool: PostgresPool
    ) async throws -> (chosen: [CustomerID], first: [JSONValue]) {
        var segment: SegmentID?
        var condition: Condition?
        switch selection {
        case .customer, .everybody: break
        case .members(let id):
            guard set.segments.contains(where: { $0.id == id }) else {
                throw ReplayFailure.notFound(
                    "No segment \(id) is live"
                        + Spelling.ending(for: id.text, among: set.segments.map(\.id.text))
                        + " Publish it first, or name another.")
            }
            segment = id
        case .condition(let path): condition = try SelectionCondition(path, self, set).condition
        }
        let look = LookStore(pool: pool)
        let now = command.now()
        var chosen: [CustomerID] = []
        var first: [JSONValue] = []
        var last: CustomerID?
        repeat {
            let (page, next) = try await look.customers(
                after: last, environment: parsed.option("environment") ?? "production",
                app: parsed.option("app"), segment: segment)
            for facts in page where condition.map({ facts.satisfy($0, of: set, now: now) }) ?? true
            {
                chosen.append(facts.customer)
                if first.count < Self.shown { first.append(facts.json) }
            }
            guard chosen.count <= Self.mostStarted else {
                throw ReplayFailure.refused(
                    "More than \(Self.mostStarted) customers are selected; narrow it down and start "
                        + "them in several calls.")
            }
            last = next
        } while last != nil
        return (chosen, first)
    }
}

extension CustomerFacts {
    fileprivate var json: JSONValue {
        ["customer": externalID.map { .string($0) } ?? .null, "id": .integer(customer.number)]
    }

    /// What conditions over a customer read, events and features left out.
    func facts(of set: DefinitionSet, now: Instant) -> Facts {
        var memberships: [String: SegmentFacts] = [:]
        for segment in set.segments {
            let since = segments[segment.id]
            memberships[segment.id.text] = SegmentFacts(isMember: since != nil, enteredAt: since)
        }
        return Facts(
            attributes: attributes, subscriptions: subscriptions, segments: memberships, now: now)
    }

    /// Whether the condition is *true* now.
    func satisfy(_ condition: Condition, of set: DefinitionSet, now: Instant) -> Bool {
        let facts = facts(of: set, now: now)
        var evaluator = Evaluator(scope: Scope(facts), facts: facts)
        return evaluator.decide(condition).truth == .true
    }
}
