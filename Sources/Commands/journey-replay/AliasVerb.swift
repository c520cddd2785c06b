internal import CommandLine
internal import JSON
internal import JourneyModel
internal import JourneyStorage
internal import Postgres
internal import Reactor
internal import TimeZones

extension CommandSpecification {
    static let alias = CommandSpecification(
        name: "alias", summary: "Say that two ids are one person",
        discussion: """
            Their records are merged, also where both are known by an id of their own, which no webhook \
            brings about. The identified record stays, of two such the older: runs, history, effects, \
            subscriptions and re-entry go to it. Of two live runs with one workflow and key the older \
            stays. A merge cannot be taken back. An id that is not known yet is the other's from now on. \
            A worker carries it out, and the verb waits for that, at most ten seconds.
            """,
        examples: [
            Example(
                "journey-replay alias user-42 old-user-17 --reason \"one account\"",
                "two accounts of one person")
        ],
        options: changing.filter { $0.long != "all" },
        arguments: [
            ArgumentSpecification("A", help: "an id"),
            ArgumentSpecification("B", help: "another id of the same person"),
        ])
}

extension ReplayCall {
    func alias() async throws {
        let reason = try changeReason()
        let (id, other) = (parsed.argument("A") ?? "", parsed.argument("B") ?? "")
        try Selector.check(id, parsed.path)
        try Selector.check(other, parsed.path)
        let environment = parsed.option("environment") ?? "production"
        let app = parsed.option("app")
        try await withDatabase(changes: true) { pool in
            let look = LookStore(pool: pool)
            let one = try await look.customer(id, environment: environment, app: app)
            let two = try await look.customer(other, environment: environment, app: app)
            guard one != nil || two != nil else {
                throw ReplayFailure.notFound(
                    "Neither \(id) nor \(other) is known in \(environment); name another with "
                        + "--environment or --app.")
            }
            if let one, one.id == two?.id {
                throw ReplayFailure.refused(
                    "\(id) and \(other) are one customer already, record \(one.id).")
            }
            let table = Self.table([one, two].compactMap(\.self))
            guard
                try mayMerge(
                    table, question: "Make \(id) and \(other) one customer? It cannot be undone.")
            else { return }
            var request = request(reason, selected: 1)
            request.detail["what"] = "customer"
            request.detail["ids"] = .array(table.rows.compactMap { $0["id"] })
            let store = CommandStore(pool: pool)
            let audit = try await store.alias(
                id, other, environment: environment, app: app, request)
            try? await WakeStore(pool: pool).notify(.turns)
            try await tellMerge(audit, store)
        }
    }

    /// As every changing verb, of one thing that concerns one or two records.
    private func mayMerge(_ table: Table, question: String) throws -> Bool {
        terminal.error.write(table.text(.table))
        if let expected = try parsed.integer("expect", in: 0...1_000_000), expected != 1 {
            throw ReplayFailure.refused(
                "Nothing was changed: --expect says \(expected), and this is 1 merge.")
        }
        if parsed.flag("dry-run") {
            terminal.error.writeLine("Nothing was changed (--dry-run).")
            return false
        }
        try agree(to: question)
        return true
    }

    private func tellMerge(_ audit: Int64, _ store: CommandStore) async throws {
        var outcomes = try await store.outcomes(of: audit)
        if !parsed.flag("no-wait") {
            let end = ContinuousClock.now + .seconds(10)
            while outcomes.isEmpty, ContinuousClock.now < end {
                try await command.loop.sleep(for: .milliseconds(100))
                outcomes = try await store.outcomes(of: audit)
            }
        }
        guard !outcomes.isEmpty else {
            throw ReplayFailure(
                .partly,
                "It is stored as audit \(audit) and not carried out yet; a worker merges the records as "
                    + "soon as neither is busy.")
        }
        terminal.error.writeLine("One customer now; audit \(audit).")
    }

    private static func table(_ customers: [CustomerView]) -> Table {
        Table(
            columns: [
                Table.Column("RECORD", key: "id", alignment: .right),
                Table.Column("IDS", key: "ids"), Table.Column("SINCE", key: "since"),
                Table.Column("RUNS", key: "runs", alignment: .right),
            ],
            rows: customers.map { view in
                [
                    "id": .integer(view.id.number),
                    "ids": .string(view.ids.prefix(5).map(\.id).joined(separator: ", ")),
                    "since": .string(view.createdAt.description),
                    "runs": .integer(view.runs.count { $0.endedAt == nil }),
                ]
            })
    }
}
