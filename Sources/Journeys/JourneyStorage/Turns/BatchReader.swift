internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import JourneyTurns
internal import Postgres
internal import TimeZones

/// Gathers the rows of the loading statements by customer.
///
/// A row that cannot be read makes its own customer unreadable, and no other (S18).
struct BatchReader {
    private(set) var batch = LoadedBatch()
    private var drafts: [CustomerID: LoadedBatch.Draft] = [:]
    private var earlier: [EventID: Event] = [:]

    mutating func takeCustomers(_ rows: PostgresRows) throws(PostgresError) {
        for row in rows {
            let id = CustomerID(try row.int64("id"))
            batch.now = try row.instant("now")
            if let survivor = try row.int64OrNil("forwards_to") {
                batch.forwards[id] = CustomerID(survivor)
                continue
            }
            if try row.bool("is_set_aside") { batch.retried.insert(id) }
            let record = CustomerRecord(
                id: id, environment: try row.string("environment"),
                app: try row.stringOrNil("app"), attributes: JSONObject(),
                inputsTaken: try row.int64("inputs_taken"),
                createdAt: try row.instant("created_at"),
                definitionsSeen: try row.int64("definitions_seen"),
                givenUntil: try row.instantOrNil("given_until"))
            drafts[id] = LoadedBatch.Draft(record: record)
            let attributes = try row.json("attributes")
            let setters = try row.json("attribute_setters")
            reading(id) { draft throws(StoredRowError) in
                draft.record.attributes = try readObject(attributes, "attributes of customer \(id)")
                let read = try readObject(setters, "attribute setters of customer \(id)")
                draft.record.setters = try readForm("customer \(id)") {
                    () throws(StoredFormError) in
                    try CustomerRecord.setters(json: read)
                }
            }
        }
    }

    mutating func takeInputs(_ rows: PostgresRows) throws(PostgresError) {
        for row in rows {
            let id = CustomerID(try row.int64("customer"))
            guard try row.bool("is_loaded") else {
                drafts[id]?.leftInputs += 1
                continue
            }
            let fields = try InputFields(row)
            reading(id) { draft throws(StoredRowError) in
                draft.inputs.append(try fields.input())
            }
        }
    }

    mutating func takeRuns(_ rows: PostgresRows) throws(PostgresError) {
        for row in rows {
            let id = try row.string("id")
            let state = try row.json("state")
            reading(CustomerID(try row.int64("customer"))) { draft throws(StoredRowError) in
                let object = try readObject(state, "run \(id)")
                draft.runs.append(
                    try readForm("run \(id)") { () throws(StoredFormError) in
                        try Run(state: object)
                    })
            }
        }
    }

    mutating func takeSubscriptions(_ rows: PostgresRows) throws(PostgresError) {
        for row in rows {
            let id = SubscriptionID(
                connector: try row.string("connector"), key: try row.string("subscription_key"))
            let state = try row.json("state")
            reading(CustomerID(try row.int64("customer"))) { draft throws(StoredRowError) in
                let what = "subscription \(id.connector) \(id.key)"
                let object = try readObject(state, what)
                draft.subscriptions.append(
                    try readForm(what) { () throws(StoredFormError) in
                        try SubscriptionState(id: id, json: object)
                    })
            }
        }
    }

    mutating func takeEntries(_ rows: PostgresRows) throws(PostgresError) {
        for row in rows {
            let entry = EarlierEntry(
                workflow: WorkflowID(try row.string("workflow")), key: try row.stringOrNil("key"),
                enteredAt: try row.instant("entered_at"))
            drafts[CustomerID(try row.int64("customer"))]?.entries.append(entry)
        }
    }

    mutating func takeLog(_ rows: PostgresRows) throws(PostgresError) {
        for row in rows {
            let ordinal = try row.int64("ordinal")
            let recordedAt = try row.instant("recorded_at")
            let event = try row.json("event")
            reading(CustomerID(try row.int64("customer"))) { draft throws(StoredRowError) in
                draft.log[ordinal] = LoggedEvent(
                    ordinal: ordinal, recordedAt: recordedAt, event: try readEvent(event))
            }
        }
    }

    mutating func takeCauses(_ rows: PostgresRows) throws(PostgresError) {
        for row in rows {
            let cause = SpentCause(
                workflow: WorkflowID(try row.string("workflow")), cause: try row.string("cause"))
            drafts[CustomerID(try row.int64("customer"))]?.causes.insert(cause)
        }
    }

    /// An event that cannot be read makes those unreadable who have a repeat of it to compare. Of one that
    /// is no longer kept a stand-in is told: whatever comes under its id now is a conflict, and not news.
    mutating func takeEarlier(_ rows: PostgresRows) throws(PostgresError) {
        let owners = Dictionary(grouping: arrivingEvents, by: \.event)
        for row in rows {
            let id = EventID(try row.string("id"))
            batch.knownEvents.insert(id)
            guard let bytes = try row.jsonOrNil("event") else {
                earlier[id] = .forgotten(id, at: try row.instant("recorded_at"))
                continue
            }
            do {
                earlier[id] = try readEvent(bytes)
            } catch {
                for owner in owners[id] ?? [] {
                    batch.unreadable[owner.customer] = error.description
                }
            }
        }
    }

    /// The ids of the events that unread inputs are or become, each with its customer.
    var arrivingEvents: [(customer: CustomerID, event: EventID)] {
        drafts.sorted { $0.key < $1.key }.flatMap { id, draft in
            draft.inputs.compactMap { input in input.event.map { (id, $0) } }
        }
    }

    /// Who has a stored delivery offered again.
    var replayedCustomers: [CustomerID] {
        drafts.filter { _, draft in
            draft.inputs.contains { if case .replay = $0.content { true } else { false } }
        }.keys.sorted()
    }

    /// What unread inputs would start runs by, each with its customer.
    var arrivingCauses: [(customer: CustomerID, cause: String)] {
        drafts.sorted { $0.key < $1.key }.flatMap { id, draft in
            draft.inputs.compactMap { input in input.cause.map { (id, $0) } }
        }
    }

    /// When the oldest of the loaded runs began.
    var oldestRun: Instant? {
        drafts.values.flatMap { $0.runs.map(\.triggerRecordedAt) }.min()
    }

    /// Loaded events that came as deliveries.
    var deliveredEvents: [Event] {
        drafts.sorted { $0.key < $1.key }.flatMap { _, draft in
            draft.log.values.filter { $0.event.trust == .provider }
                .sorted { $0.ordinal > $1.ordinal }.map(\.event)
        }
    }

    /// The customers with what they are asked for in the feature house, without ids yet.
    var environments: [CustomerID: String] { drafts.mapValues(\.record.environment) }

    /// The runs that unread results name and that were not loaded as live or open ones.
    var resultRuns: [(customer: CustomerID, run: RunID)] {
        drafts.sorted { $0.key < $1.key }.flatMap { id, draft in
            let known = Set(draft.runs.map(\.id))
            return Set(draft.inputs.compactMap(\.resultRun)).subtracting(known).sorted()
                .map { (id, $0) }
        }
    }

    /// The versions that the loaded runs follow.
    var versions: Set<DefinitionCache.Key> {
        Set(
            drafts.values.flatMap { draft in
                draft.runs.map {
                    DefinitionCache.Key(workflow: $0.workflow, version: $0.version)
                }
            })
    }

    /// The batch, once everything was taken. Customers for whose inputs there was no room are left out:
    /// a later batch finds them again.
    consuming func finished() -> LoadedBatch {
        for (id, draft) in drafts.sorted(by: { $0.key < $1.key }) {
            if batch.unreadable[id] != nil { continue }
            if draft.leftInputs > 0, draft.inputs.isEmpty { continue }
            batch.turns.append(draft.turn(now: batch.now, earlier: earlier))
        }
        return batch
    }

    var now: Instant { batch.now }

    /// The customers that are being loaded.
    var customers: [CustomerID] { drafts.keys.sorted() }

    mutating func change(_ id: CustomerID, _ body: (inout LoadedBatch.Draft) -> Void) {
        guard var draft = drafts.removeValue(forKey: id) else { return }
        body(&draft)
        drafts[id] = draft
    }

    private mutating func reading(
        _ id: CustomerID, _ body: (inout LoadedBatch.Draft) throws(StoredRowError) -> Void
    ) {
        guard var draft = drafts[id] else { return }
        do {
            try body(&draft)
            drafts[id] = draft
        } catch {
            if batch.unreadable[id] == nil { batch.unreadable[id] = error.description }
        }
    }
}

extension Event {
    /// Stands in for an event whose id is kept longer than its content.
    static func forgotten(_ id: EventID, at recordedAt: Instant) -> Event {
        Event(
            id: id, connector: "", providerEventID: "", providerType: nil,
            name: Event.forgottenName, trust: .provider, person: Person(id: nil),
            occurredAt: recordedAt, receivedAt: recordedAt, environment: "",
            properties: JSONObject())
    }
}

/// The columns of one loaded inbox row, taken out before anything in them is read.
private struct InputFields {
    let sequence: Int64
    let recordedAt: Instant
    let kind: String
    let delivery: StoredDelivery?
    let isBodyGone: Bool
    let payload: [UInt8]?
    let mayStart: Bool

    init(_ row: PostgresRow) throws(PostgresError) {
        sequence = try row.int64("sequence")
        recordedAt = try row.instant("recorded_at")
        kind = try row.string("kind")
        payload = try row.jsonOrNil("payload")
        mayStart = try row.bool("starts")
        let body = try row.bytesOrNil("body")
        isBodyGone = body == nil
        if let id = try row.int64OrNil("delivery"),
            let connector = try row.stringOrNil("connector")
        {
            delivery = StoredDelivery(
                id: id, connector: connector,
                providerEventID: try row.string("provider_event_id"),
                body: body ?? [],
                receivedAt: try row.instant("delivery_received_at"), earlier: nil)
        } else {
            delivery = nil
        }
    }

    func input() throws(StoredRowError) -> TurnInput {
        TurnInput(
            sequence: sequence, recordedAt: recordedAt, content: try content(), mayStart: mayStart)
    }

    private func content() throws(StoredRowError) -> TurnInput.Content {
        switch (InputKind(rawValue: kind), payload, delivery) {
        case (.delivery, _, .some) where isBodyGone:
            throw StoredRowError(what: "input \(sequence)", fact: "its body is gone")
        case (.delivery, _, let delivery?): return .delivery(delivery)
        case (.replay, let payload?, let delivery?):
            let object = try readObject(payload, "replay")
            let replay = try readForm("replay") { () throws(StoredFormError) in
                try Replay(json: object)
            }
            // A body that went meanwhile is not mapped: the replay then does nothing.
            return .replay(
                delivery,
                isBodyGone
                    ? Replay(remaps: false, withholding: nil, audit: replay.audit) : replay)
        case (.event, let payload?, _): return .event(try readEvent(payload))
        case (.result, let payload?, _): return .result(try readResult(payload))
        case (.command, let payload?, _): return .command(try readCommand(payload))
        case (.start, let payload?, _):
            let object = try readObject(payload, "start")
            return .start(
                try readForm("start") { () throws(StoredFormError) in try StartInput(json: object) }
            )
        case (.exit, let payload?, _):
            let object = try readObject(payload, "exit")
            return .exit(
                try readForm("exit") { () throws(StoredFormError) in try ExitRequest(json: object) }
            )
        case (.schedule, let payload?, _):
            let object = try readObject(payload, "schedule")
            return .schedule(
                try readForm("schedule") { () throws(StoredFormError) in
                    try ScheduleInput(json: object)
                })
        case (_, _, _):
            throw StoredRowError(
                what: "input \(sequence)", fact: "a \(kind) needs more than it has")
        }
    }
}
