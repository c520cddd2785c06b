internal import CommandLine
internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import JourneyStorage
internal import JourneyTurns
internal import Postgres
internal import Reactor

extension ReplayCall {
    // MARK: replay-deliveries

    func replayDeliveries() async throws {
        let reason = try changeReason()
        let replay = try replayAsked()
        let rate = try rateAsked()
        let selector = try selector(
            "DELIVERY", known: CommandSpecification.replayTerms, statuses: Self.deliveryStates)
        try requireSelection(selector, "DELIVERY")
        try await withDatabase(changes: true) { pool in
            let selection = try await deliverySelection(selector, in: LookStore(pool: pool))
            let store = BatchStore(pool: pool)
            let (count, first) = try await store.preview(selection, limit: Self.shown)
            guard
                try mayChange(
                    DeliveryView.table(first), of: count, "delivery",
                    question: "Offer \(counted(count, "delivery")) again?")
            else { return }
            var request = request(reason, selected: count)
            request.detail["replay"] = .object(replay.json)
            let batch = try await store.create(
                replaying: selection, as: replay, rate: rate, request)
            terminal.error.writeLine(
                "Batch \(batch) is made; journey-replay batches show \(batch) tells how it stands.")
            if parsed.flag("no-wait") { return }
            try await follow(batch, in: store)
        }
    }

    /// What is asked, from the options; the audit's number is set as it is stored.
    private func replayAsked() throws -> Replay {
        let remaps = parsed.flag("remap")
        let starts = parsed.flag("start")
        guard remaps || starts else {
            throw UsageError(
                path: parsed.path,
                "replay-deliveries does nothing by itself: say --remap to map the bodies again, "
                    + "--start to start workflows that these events have not started, or both.")
        }
        guard remaps || !parsed.flag("cancel-started") else {
            throw UsageError(
                path: parsed.path,
                "--cancel-started is about what an earlier mapping started: it needs --remap.")
        }
        let word = parsed.option("effects") ?? "suppress"
        let withholding: Withholding?
        switch word {
        case "suppress": withholding = Withholding(reason: "replay", recordsRequests: false)
        case "record": withholding = Withholding(reason: "replay", recordsRequests: true)
        case "live": withholding = nil
        case _:
            throw UsageError(
                path: parsed.path,
                "--effects is suppress, record or live, not \"\(word.prefix(64))\""
                    + Spelling.ending(for: word, among: ["suppress", "record", "live"]))
        }
        guard starts || parsed.option("effects") == nil else {
            throw UsageError(
                path: parsed.path, "--effects is about the runs that --start starts; say both.")
        }
        return Replay(
            remaps: remaps, starts: starts, cancelsStarted: parsed.flag("cancel-started"),
            withholding: withholding, audit: 0)
    }

    /// `--rate 50/s`.
    private func rateAsked() throws(UsageError) -> Int {
        guard let text = parsed.option("rate") else { return 50 }
        let number = text.hasSuffix("/s") ? Int(text.dropLast(2)) : nil
        guard let number, (1...10_000).contains(number) else {
            throw UsageError(
                path: parsed.path,
                "--rate is a number a second, from 1/s to 10000/s, not \"\(text.prefix(64))\".")
        }
        return number
    }

    func deliverySelection(
        _ selector: Selector, in look: LookStore
    ) async throws -> DeliverySelection {
        var selection = DeliverySelection()
        selection.ids = try selector.ids.map { word throws(UsageError) in
            guard let id = Int64(word) else {
                throw UsageError(
                    path: parsed.path,
                    "A delivery's id is a number, not \"\(word.prefix(64))\"; journey-replay "
                        + "deliveries shows them.")
            }
            return id
        }
        selection.connector = selector[.connector]
        selection.event = selector[.event]
        // Words for what the event is called, not for what a turn made of the delivery.
        switch selector[.status] {
        case "unknown"?, "ignored"?:
            selection.state = "processed"
            selection.event = selection.event ?? "connector.\(selector[.status] ?? "")"
        case let state: selection.state = state
        }
        selection.since = selector.since
        selection.until = selector.until
        selection.environment = selector[.environment] ?? parsed.option("environment")
        if let id = selector[.customer] {
            selection.customer = try await findCustomer(id, selector[.environment], in: look).id
        }
        return selection
    }

    // MARK: Following

    /// Waits for a batch to end and for the turns that decide what it offered; tells what came of it.
    private func follow(_ id: Int64, in store: BatchStore) async throws {
        var last: Int64 = -1
        var stillSince = ContinuousClock.now
        while true {
            guard let batch = try await store.batch(id) else { return }
            if !batch.state.isOpen || batch.state == .paused { break }
            if batch.passed != last {
                last = batch.passed
                stillSince = .now
                if terminal.isInteractive {
                    terminal.error.writeLine("\(batch.passed) of \(batch.total)…")
                }
            } else if ContinuousClock.now > stillSince + Self.stillLimit {
                throw ReplayFailure(
                    .partly,
                    "Batch \(id) stands at \(batch.passed) of \(batch.total): no worker takes it "
                        + "on. It goes on as soon as one runs; journey-replay batches cancel \(id) "
                        + "ends it.")
            }
            try await command.loop.sleep(for: .milliseconds(100))
        }
        let end = ContinuousClock.now + Self.stillLimit
        while try await store.undecided(of: id) > 0, ContinuousClock.now < end {
            try await command.loop.sleep(for: .milliseconds(100))
        }
        try await tell(id, in: store)
    }

    /// How long nothing may move before the verb stops waiting.
    private static let stillLimit = Duration.seconds(10)

    /// Prints what a batch did and could not do, with the live runs that the events have.
    func tell(_ id: Int64, in store: BatchStore) async throws {
        guard let batch = try await store.batch(id) else {
            throw ReplayFailure.notFound(
                "There is no batch \(id); journey-replay batches list shows them.")
        }
        let findings = try await store.findings(of: id, limit: LookStore.listLimit)
        let events = findings.compactMap { $0.outcome == "offered" ? $0.event : nil }
        let runs = try await store.liveRuns(startedBy: events)
        let byEvent = Dictionary(grouping: runs, by: \.event)
        terminal.output.write(
            BatchFinding.table(
                findings.map { finding in
                    (finding, finding.event.flatMap { byEvent[$0] }?.map(\.run) ?? [])
                }
            ).text(format(), emphasis: terminal.usesColour))
        let sum =
            "Batch \(id) is \(batch.state.rawValue): \(batch.passed) of \(batch.total) looked at, "
            + "\(batch.done) offered, \(batch.unable) impossible."
        if !runs.isEmpty {
            terminal.error.writeLine(
                "\(counted(runs.count, "live run")) that these events started "
                    + "\(runs.count == 1 ? "goes" : "go") on; --cancel-started ends those of an "
                    + "earlier mapping.")
        }
        let undecided = try await store.undecided(of: id)
        if undecided > 0 {
            terminal.error.writeLine(
                "\(counted(undecided, "input")) not decided yet; a worker decides them in the "
                    + "customers' turns.")
        }
        switch batch.state {
        case .done where batch.unable == 0: terminal.error.writeLine(sum)
        case .done, .cancelled, .running: throw ReplayFailure(.partly, sum)
        case .paused:
            throw ReplayFailure(
                .partly, sum + (batch.error.map { " It stands still: \($0)." } ?? ""))
        }
    }
}

extension BatchFinding {
    static func table(_ findings: [(BatchFinding, [RunID])]) -> Table {
        Table(
            columns: [
                Table.Column("DELIVERY", key: "delivery", alignment: .right),
                Table.Column("OUTCOME", key: "outcome"), Table.Column("BEFORE", key: "before"),
                Table.Column("NOW", key: "after"), Table.Column("LIVE RUNS", key: "live_runs"),
                Table.Column("REASON", key: "reason"), Table.Column("EVENT", key: "event"),
            ],
            rows: findings.map { finding, runs in
                var row = JSONObject([
                    ("delivery", .integer(finding.object)), ("outcome", .string(finding.outcome)),
                ])
                row["before"] = finding.before.map { .string($0) }
                row["after"] = finding.after.map { .string($0) }
                row["reason"] = finding.sentence.map { .string($0) }
                row["event"] = finding.event.map { .string($0.text) }
                if !runs.isEmpty {
                    row["live_runs"] = .string(runs.map(\.text).joined(separator: " "))
                }
                return .object(row)
            }, idKey: "delivery")
    }
}
