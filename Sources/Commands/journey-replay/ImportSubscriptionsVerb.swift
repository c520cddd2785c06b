internal import CommandLine
internal import Glibc
internal import JSON
internal import JourneyModel
internal import JourneyStorage
internal import Postgres
internal import TimeZones

extension CommandSpecification {
    static let importingSubscriptions = CommandSpecification(
        name: "import-subscriptions",
        summary: "Take a provider's export in as state, and start nothing",
        discussion: """
            FILE holds JSON lines, or CSV with a header; what is quoted ends on its line. Columns: \
            customer_id, subscription_key (both needed), connector (or --connector), aliases (a list, or \
            set apart by |), environment, occurred_at, \
            \(SubscriptionRow.columns.dropFirst(6).joined(separator: ", ")). A status is one of \
            \(SubscriptionRow.statuses.joined(separator: ", ")); times are RFC 3339, or whole seconds or \
            milliseconds since 1970.

            Each row becomes what is known of that subscription as of occurred_at, else --as-of, else \
            the file's own time: a webhook told of a later time, or of the same, stays. Nobody enters a \
            workflow or a segment by it; conditions of runs under way see it, and dates to come start \
            their runs when they come. The same row again changes nothing, so an import that broke off is \
            simply started again.

            Lines that cannot be taken are listed by number, and then nothing is imported, unless \
            --skip-bad takes the others (exit code 7).
            """,
        examples: [
            Example(
                "journey-replay import-subscriptions export.csv --connector revenuecat --dry-run",
                "how many rows, the first ten, and what is wrong with the others"),
            Example(
                "journey-replay import-subscriptions export.jsonl --connector revenuecat --reason "
                    + "\"moving in\" --yes --expect 1200", "from a script"),
        ],
        options: [
            OptionSpecification(
                "connector", valueName: "NAME", help: "of rows that name none"),
            OptionSpecification(
                "as-of", valueName: "TIME",
                help: "of rows without occurred_at; the file's time when "
                    + "left out"),
            OptionSpecification(
                "column", valueName: "OURS=THEIRS", help: "what the file calls a column",
                repeats: true),
            OptionSpecification("ignore-others", help: "leave other columns out"),
            OptionSpecification("skip-bad", help: "import the other lines all the same"),
        ] + changing.filter { !["all", "no-wait"].contains($0.long) },
        arguments: [ArgumentSpecification("FILE", help: "the export")])
}

extension ReplayCall {
    /// Bad lines that are shown.
    private static let badShown = 20

    func importSubscriptions() async throws {
        let reason = try changeReason()
        let path = parsed.argument("FILE") ?? ""
        let source = try exportSource(path)
        var first: [SubscriptionRow] = []
        var bad: [String] = []
        let tally = try read(path, source) { row in
            if first.count < 10 { first.append(row) }
        } onBad: { line, sentence in
            if bad.count < Self.badShown { bad.append("\(path):\(line): \(sentence).") }
        }
        for sentence in bad { terminal.error.writeLine(printable(sentence)) }
        if tally.bad > bad.count {
            terminal.error.writeLine("… and \(tally.bad - bad.count) more.")
        }
        if tally.bad > 0, !parsed.flag("skip-bad") {
            throw ReplayFailure(
                "Nothing was imported: \(counted(tally.bad, "line")) of \(path) cannot be taken. Mend "
                    + "them, or say --skip-bad to import the other \(tally.good).")
        }
        let table = SubscriptionRow.table(first, of: tally.good)
        if parsed.flag("dry-run") {
            _ = try mayChange(table, "row", question: "")
            return
        }
        try await withDatabase(changes: true) { pool in
            guard
                try mayChange(
                    table, "row", question: "Import \(counted(tally.good, "row")) as state?")
            else { return }
            try await store(path, source, reason, tally, pool)
        }
    }

    private func store(
        _ path: String, _ source: ExportSource, _ reason: String, _ tally: ImportTally,
        _ pool: PostgresPool
    ) async throws {
        var request = request(reason, selected: tally.good)
        request.detail["file"] = .string(path)
        request.detail["bad_lines"] = .integer(tally.bad)
        let audit = try await CommandStore(pool: pool).note(request)
        let deliveries = DeliveryStore(pool: pool)
        var waiting: [ArrivedDelivery] = []
        var known = 0
        var rows = try source.lines(path)
        func flush() async throws {
            let receipts = try await deliveries.store(waiting)
            known += receipts.count { $0.result == .duplicate }
            waiting = []
        }
        while let next = try rows.next() {
            guard case .row(let object) = next,
                let row = try? SubscriptionRow(object, source.defaults)
            else { continue }
            let event = row.event(now: source.defaults.now)
            waiting.append(
                ArrivedDelivery(
                    connector: row.connector, providerEventID: event.providerEventID,
                    content: .event(event), environment: row.environment,
                    app: parsed.option("app"), person: event.person, occurredAt: row.occurredAt))
            if waiting.count == DeliveryStore.batchLimit { try await flush() }
        }
        try await flush()
        try? await WakeStore(pool: pool).notify(.turns)
        let sum =
            "\(counted(tally.good - known, "row")) imported, \(known) known already, \(tally.bad) "
            + "skipped; audit \(audit). Workers take them in as they take the customers' turns."
        if tally.bad > 0 { throw ReplayFailure(.partly, sum) }
        terminal.error.writeLine(sum)
    }

    // MARK: The file

    private struct ImportTally {
        var good = 0
        var bad = 0
    }

    private struct ExportSource {
        var defaults: SubscriptionRow.Defaults
        var renamed: [String: String]
        var known: [String]?

        func lines(_ path: String) throws -> TabularLines {
            try TabularLines(path: path, renamed: renamed, known: known)
        }
    }

    private func exportSource(_ path: String) throws -> ExportSource {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw ReplayFailure.notFound(
                "There is no file \(path); an export is read twice, so it must be a file.")
        }
        let fileTime = Instant(
            milliseconds: Int64(status.st_mtim.tv_sec) * 1_000
                + Int64(status.st_mtim.tv_nsec) / 1_000_000)
        var asOf = min(fileTime, command.now())
        if let text = parsed.option("as-of") {
            guard let time = Instant(text) else {
                throw UsageError(
                    path: parsed.path, "--as-of takes RFC 3339, such as 2026-11-30T10:00:00Z.")
            }
            asOf = time
        }
        var renamed: [String: String] = [:]
        for pair in parsed.all("column") {
            let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, SubscriptionRow.columns.contains(parts[0]) else {
                throw UsageError(
                    path: parsed.path,
                    "--column takes OURS=THEIRS, such as customer_id=app_user_id; ours are "
                        + SubscriptionRow.columns.joined(separator: ", ") + ".")
            }
            renamed[parts[1]] = parts[0]
        }
        return ExportSource(
            defaults: SubscriptionRow.Defaults(
                connector: parsed.option("connector"),
                environment: parsed.option("environment") ?? "production", occurredAt: asOf,
                now: command.now()), renamed: renamed,
            known: parsed.flag("ignore-others") ? SubscriptionRow.columns : nil)
    }

    private func read(
        _ path: String, _ source: ExportSource, _ onRow: (SubscriptionRow) -> Void,
        onBad: (Int, String) -> Void
    ) throws -> ImportTally {
        var tally = ImportTally()
        var rows = try source.lines(path)
        while let next = try rows.next() {
            switch next {
            case .bad(let sentence):
                tally.bad += 1
                onBad(rows.number, sentence)
            case .row(let object):
                do throws(SubscriptionRow.Problem) {
                    onRow(try SubscriptionRow(object, source.defaults))
                    tally.good += 1
                } catch {
                    tally.bad += 1
                    onBad(rows.number, error.description)
                }
            }
        }
        return tally
    }
}

extension SubscriptionRow {
    /// The first rows; the others only count.
    fileprivate static func table(_ first: [SubscriptionRow], of count: Int) -> Table {
        Table(
            columns: [
                Table.Column("CUSTOMER", key: "customer_id"),
                Table.Column("CONNECTOR", key: "connector"),
                Table.Column("SUBSCRIPTION", key: "subscription_key"),
                Table.Column("STATUS", key: "status"), Table.Column("PRODUCT", key: "product_id"),
                Table.Column("EXPIRES", key: "expires_at"),
                Table.Column("AS OF", key: "occurred_at"),
            ],
            rows: first.map(\.json)
                + Array(repeating: .null, count: max(0, count - first.count)),
            idKey: "customer_id")
    }
}
