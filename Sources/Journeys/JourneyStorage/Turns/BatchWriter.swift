internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import JourneyTurns
internal import Postgres
internal import TimeZones
internal import WorkflowDefinitions

/// Turns the results of one batch into the statements that write them, all sorted by customer.
struct BatchWriter {
    let results: [TurnResult]
    let definitions: DefinitionSet
    let now: Instant
    private let knownEvents: Set<EventID>
    private let deliveries: [Int64: StoredDelivery]

    /// - Parameter batch: what the results were decided from.
    init(_ results: [TurnResult], of batch: LoadedBatch, _ definitions: DefinitionSet) {
        self.results = results.sorted { $0.customer.id < $1.customer.id }
        self.definitions = definitions
        now = batch.now
        knownEvents = batch.knownEvents
        var deliveries: [Int64: StoredDelivery] = [:]
        for content in batch.turns.flatMap({ $0.inputs.map(\.content) }) {
            switch content {
            case .delivery(let delivery), .replay(let delivery, _):
                deliveries[delivery.id] = delivery
            case .event, .result, .command, .start, .exit, .schedule: break
            }
        }
        self.deliveries = deliveries
    }

    /// Statements without rows are left out.
    var statements: [(SQLStatement, [PostgresValue])] {
        var statements = [takeInputs, updateCustomers]
        if results.contains(where: { !$0.changedRuns.isEmpty }) { statements.append(updateRuns) }
        if results.contains(where: { !$0.newRuns.isEmpty }) { statements.append(insertRuns) }
        // Before withdrawals: what a turn asks for and takes back at once never becomes due.
        if results.contains(where: { !$0.requests.isEmpty }) { statements.append(insertEffects) }
        if let withdrawEffects { statements.append(withdrawEffects) }
        if results.contains(where: { !$0.outbound.isEmpty }) { statements.append(insertOutbound) }
        if results.contains(where: { !$0.renewals.isEmpty }) { statements.append(requeueEffects) }
        if results.contains(where: { !$0.commands.isEmpty }) { statements.append(insertOutcomes) }
        if results.contains(where: { !$0.events.isEmpty }) { statements.append(insertEvents) }
        if let placeRevisions { statements.append(placeRevisions) }
        statements += subscriptionStatements + transferStatements
        statements += stateStatements
        if results.contains(where: { !$0.deliveries.isEmpty }) { statements.append(markDeliveries) }
        if results.contains(where: { !$0.decisions.isEmpty }) { statements.append(insertHistory) }
        if results.contains(where: { !$0.counts.isEmpty }) { statements.append(insertCounts) }
        return statements + [dropTimers, setTimers]
    }

    private var takeInputs: (SQLStatement, [PostgresValue]) {
        let inputs = results.flatMap(\.takenInputs)
        return (TurnStore.takingInputs, [.int8Array(inputs), .int8(Int64(inputs.count))])
    }

    private var updateCustomers: (SQLStatement, [PostgresValue]) {
        let records = results.map(\.customer)
        return (
            TurnStore.updatingCustomers,
            [
                .int8Array(records.map(\.id.number)),
                .textArray(records.map { JSONValue.object($0.attributes).text }),
                .int8Array(records.map(\.inputsTaken)),
                .textArray(records.map { JSONValue.object($0.settersJSON).text }),
                .int8Array(records.map(\.definitionsSeen)),
            ]
        )
    }

    // MARK: Runs

    private var updateRuns: (SQLStatement, [PostgresValue]) {
        let changed = results.flatMap { result in
            result.changedRuns.sorted { $0.id < $1.id }.map { (result.customer.id.number, $0) }
        }
        let runs = changed.map(\.1)
        return (
            TurnStore.updatingRuns,
            [.int8Array(changed.map(\.0)), .textArray(runs.map(\.id.text))]
                + movingColumns(runs)
        )
    }

    private var insertRuns: (SQLStatement, [PostgresValue]) {
        let runs = results.flatMap { $0.newRuns.sorted { $0.id < $1.id } }
        return (
            TurnStore.insertingRuns,
            [.int8Array(runs.map(\.customer.number)), .textArray(runs.map(\.id.text))]
                + movingColumns(runs) + [
                    .textArray(runs.map(\.workflow.text)),
                    .int4Array(runs.map { Int32(clamping: $0.version) }),
                    .textArray(runs.map(\.digest)), .textArray(runs.map { $0.key.map(storable) }),
                    .int4Array(runs.map { Int32(clamping: $0.slot) }),
                    .textArray(runs.map { storable($0.cause) }),
                    .int4Array(runs.map { Int32(clamping: $0.rerun) }),
                    .textArray(runs.map(\.environment)), .timestamptzArray(runs.map(\.enteredAt)),
                ]
        )
    }

    /// The columns that change as a run moves.
    private func movingColumns(_ runs: [Run]) -> [PostgresValue] {
        let followed = runs.map { definitions.version($0.version, of: $0.workflow)?.definition }
        let lookBacks = zip(runs, followed).map { LookBack(run: $0, definition: $1) }
        let openUntils = zip(runs, followed).map { run, definition in
            definition.flatMap { Engine($0).openUntil(run) }
        }
        return [
            .textArray(runs.map(\.status.word)),
            .textArray(runs.map { $0.status.reason.map(storable) }),
            .textArray(runs.map { $0.position?.step.text }), .timestamptzArray(runs.map(\.endedAt)),
            .timestamptzArray(runs.map(\.wakeAt)),
            .int4Array(runs.map { Int32(clamping: $0.decisions) }),
            .int8Array(lookBacks.map { $0?.mark }),
            .timestamptzArray(lookBacks.map { $0?.recordedAfter }),
            .textArray(runs.map { JSONValue.object($0.state).text }),
            .timestamptzArray(openUntils),
        ]
    }

    // MARK: Effects

    private var insertEffects: (SQLStatement, [PostgresValue]) {
        let requests = results.flatMap { result in
            result.requests.sorted { $0.invocation < $1.invocation }
                .map { (result.customer.id.number, $0) }
        }
        return (
            TurnStore.insertingEffects,
            [
                .int8Array(requests.map(\.0)), .textArray(requests.map(\.1.invocation.text)),
                .textArray(requests.map(\.1.run.text)), .textArray(requests.map(\.1.step.text)),
                .int4Array(requests.map { Int32(clamping: $0.1.attemptGroup) }),
                .textArray(requests.map(\.1.tool.rawValue)), .textArray(requests.map(\.1.account)),
                .textArray(requests.map { JSONValue.object($0.1.request).text }),
                .timestamptzArray(requests.map(\.1.requestedAt)),
                .timestamptzArray(requests.map(\.1.deadline)),
                .int8Array(requests.map(\.1.attemptTimeout.wholeMilliseconds)),
                .textArray(requests.map { JSONValue.object($0.1.retry.stored).text }),
                .timestamptzArray(requests.map(\.1.notBefore)),
                .textArray(requests.map { $0.1.window.map { JSONValue.object($0.json).text } }),
                .textArray(requests.map { $0.1.withheld.map(storable) }),
            ]
        )
    }

    /// What was taken back by name, and whatever a run that ended still had queued.
    private var withdrawEffects: (SQLStatement, [PostgresValue])? {
        let named = results.flatMap { result in
            result.withdrawals.map { (result.customer.id.number, $0) }
        }
        // A run may have been another record's when it ended: its rows are this customer's now.
        let ended = results.flatMap { result in
            (result.changedRuns + result.newRuns).filter { $0.endedAt != nil }
                .map { (result.customer.id.number, $0) }
        }
        if named.isEmpty, ended.isEmpty { return nil }
        return (
            TurnStore.withdrawingEffects,
            [
                .int8Array(named.map(\.0)), .textArray(named.map(\.1.invocation.text)),
                .textArray(named.map { storable($0.1.reason) }),
                .int8Array(ended.map(\.0)), .textArray(ended.map(\.1.id.text)),
                .textArray(ended.map { storable($0.1.status.reason ?? $0.1.status.word) }),
                .timestamptz(now),
            ]
        )
    }

    // MARK: What happened

    private var insertEvents: (SQLStatement, [PostgresValue]) {
        let events = results.flatMap { result in
            result.events.map { (result.customer.id.number, $0) }
        }
        return (
            TurnStore.insertingEvents,
            [
                .int8Array(events.map(\.0)), .int8Array(events.map(\.1.ordinal)),
                .timestamptzArray(events.map(\.1.recordedAt)),
                .textArray(events.map(\.1.event.id.text)),
                .textArray(events.map { storable($0.1.event.name) }),
                .textArray(events.map { storable($0.1.event.connector) }),
                .timestamptzArray(events.map(\.1.event.occurredAt)),
                .timestamptzArray(events.map(\.1.event.receivedAt)),
                .textArray(events.map { storable($0.1.event.environment) }),
                .textArray(events.map { JSONValue.object($0.1.event.json).text }),
                .boolArray(events.map { knownEvents.contains($0.1.event.id) }),
            ]
        )
    }

    /// The newest revision is the one that repeats are compared with.
    private var placeRevisions: (SQLStatement, [PostgresValue])? {
        let events = results.flatMap { result in
            result.events.filter { result.revised.contains($0.event.id) }
                .map { (result.customer.id.number, $0) }
        }
        if events.isEmpty { return nil }
        return (
            TurnStore.placingRevisions,
            [
                .textArray(events.map(\.1.event.id.text)), .int8Array(events.map(\.0)),
                .int8Array(events.map(\.1.ordinal)),
                .timestamptzArray(events.map(\.1.recordedAt)),
            ]
        )
    }

    private var markDeliveries: (SQLStatement, [PostgresValue]) {
        let marks = results.flatMap(\.deliveries).sorted { $0.delivery < $1.delivery }
        let marked = marks.map { deliveries[$0.delivery] }
        return (
            TurnStore.markingDeliveries,
            [
                .int8Array(marks.map(\.delivery)),
                .timestamptzArray(marked.map { $0?.receivedAt }),
                .textArray(marks.map(\.state.rawValue)),
                .textArray(marks.map { $0.reason.map(storable) }),
                .textArray(
                    marked.map { delivery in
                        delivery.map {
                            Event.makeID(
                                connector: $0.connector, providerEventID: $0.providerEventID
                            ).text
                        }
                    }),
            ]
        )
    }

    private var insertHistory: (SQLStatement, [PostgresValue]) {
        let decisions = results.flatMap { result in
            result.decisions.map { (result.customer.id.number, $0) }
        }
        return (
            TurnStore.insertingHistory,
            [
                .int8Array(decisions.map(\.0)), .textArray(decisions.map(\.1.run.text)),
                .int4Array(decisions.map { Int32(clamping: $0.1.number) }),
                .timestamptzArray(decisions.map(\.1.at)), .textArray(decisions.map(\.1.json.text)),
            ]
        )
    }

    private var insertCounts: (SQLStatement, [PostgresValue]) {
        var sums: [Count: Int] = [:]
        for result in results { sums.merge(result.counts, uniquingKeysWith: +) }
        let counts = sums.map { ($0.key, $0.value) }
        return (
            TurnStore.insertingCounts,
            [
                .timestamptz(now), .textArray(counts.map(\.0.name.rawValue)),
                .textArray(counts.map { $0.0.workflow?.text ?? "" }),
                .textArray(counts.map { storable($0.0.cause) }),
                .int8Array(counts.map { Int64($0.1) }),
            ]
        )
    }

    // MARK: Timers

    private var dropTimers: (SQLStatement, [PostgresValue]) {
        let idle = results.filter { $0.wakeAt == nil }
        return (
            TurnStore.droppingTimers,
            [.int8Array(idle.map(\.customer.id.number)), .timestamptz(now)]
        )
    }

    private var setTimers: (SQLStatement, [PostgresValue]) {
        let waking = results.filter { $0.wakeAt != nil }
        return (
            TurnStore.settingTimers,
            [
                .int8Array(waking.map(\.customer.id.number)),
                .timestamptzArray(waking.map(\.wakeAt)), .timestamptz(now),
            ]
        )
    }
}

extension Run {
    /// The earliest time at which the run wants a turn without input.
    fileprivate var wakeAt: Instant? {
        [position?.due, position?.reconsiderAt].compactMap(\.self).min()
    }
}
