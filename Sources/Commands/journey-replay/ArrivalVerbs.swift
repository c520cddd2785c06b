internal import CommandLine
internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import JourneyStorage
internal import JourneyTurns

extension ReplayCall {
    func events() async throws {
        let selector = try selector("EVENT", known: CommandSpecification.eventTerms)
        try await withDatabase { pool in
            let store = LookStore(pool: pool)
            var filter = EventFilter()
            let environment = selector[.environment] ?? parsed.option("environment")
            filter.environment = environment ?? "production"
            filter.app = parsed.option("app")
            filter.customer = selector[.customer]
            filter.name = selector[.event]
            filter.connector = selector[.connector]
            filter.since = selector.since
            filter.until = selector.until
            let hasIDs = !parsed.allArguments("EVENT").isEmpty
            filter.limit = hasIDs ? LookStore.listLimit : min(selector.limit, LookStore.listLimit)
            var events = try await store.events(filter)
            if let environment {
                events = events.filter { $0.logged.event.environment == environment }
            }
            if hasIDs {
                events = try picked(selector.ids, events, "event") { $0.logged.event.id.text }
            }
            printTable(EventView.table(events), limit: hasIDs ? .max : filter.limit)
        }
    }

    private static let deliveryStates =
        ["unread", "unassigned"] + DeliveryMark.State.allCases.map(\.rawValue)

    func deliveries() async throws {
        let words = parsed.allArguments("WORD")
        switch words.first {
        case "show"?, "raw"?:
            guard words.count == 2, let id = Int64(words[1]) else {
                throw UsageError(
                    path: parsed.path,
                    "deliveries \(words[0]) takes one number, as journey-replay deliveries shows it."
                )
            }
            try await showDelivery(id, isRaw: words[0] == "raw")
        case _?, nil: try await listDeliveries()
        }
    }

    private func showDelivery(_ id: Int64, isRaw: Bool) async throws {
        try await withDatabase { pool in
            let (view, body) = try await findDelivery(id, in: LookStore(pool: pool))
            if isRaw {
                guard let body else {
                    throw ReplayFailure.notFound(
                        "The body of delivery \(id) is no longer kept; its event is \(view.event?.text ?? "none")."
                    )
                }
                // A body that was accepted is UTF-8, so text holds every byte of it.
                return terminal.output.write(String(decoding: body, as: UTF8.self))
            }
            var object = view.json.object ?? JSONObject()
            object["body"] =
                body.map { bytes in
                    (try? JSONParser.parse(bytes, options: .webhook))
                        ?? .string(String(decoding: bytes, as: UTF8.self))
                } ?? .null
            switch format() {
            case .jsonl: terminal.output.writeLine(JSONValue.object(object).text)
            case .ids: terminal.output.writeLine(String(id))
            case .table, .json: terminal.output.writeLine(JSONValue.object(object).pretty)
            }
        }
    }

    private func findDelivery(
        _ id: Int64, in store: LookStore
    ) async throws -> (view: DeliveryView, body: [UInt8]?) {
        if let found = try await store.delivery(id) { return found }
        throw ReplayFailure.notFound(
            "There is no delivery \(id); journey-replay deliveries lists them.")
    }

    private func listDeliveries() async throws {
        let selector = try selector(
            "WORD", known: CommandSpecification.deliveryTerms, statuses: Self.deliveryStates)
        try await withDatabase { pool in
            let store = LookStore(pool: pool)
            if !parsed.allArguments("WORD").isEmpty {
                var deliveries: [DeliveryView] = []
                for word in selector.ids {
                    guard let id = Int64(word) else {
                        throw UsageError(
                            path: parsed.path, "A delivery's id is a number, not \"\(word)\".")
                    }
                    deliveries.append(try await findDelivery(id, in: store).view)
                }
                return printTable(DeliveryView.table(deliveries))
            }
            let limit = min(selector.limit, LookStore.listLimit)
            let deliveries = try await deliveries(selector, limit, in: store)
            printTable(DeliveryView.table(deliveries), limit: limit)
        }
    }

    private func deliveries(
        _ selector: Selector, _ limit: Int, in store: LookStore
    ) async throws -> [DeliveryView] {
        var found: [DeliveryView] = []
        if let id = selector[.customer] {
            let customer = try await findCustomer(id, selector[.environment], in: store)
            for logged in customer.events { found += try await store.deliveries(of: logged) }
            found = found.filter { delivery in
                (selector[.connector].map { delivery.connector == $0 } ?? true)
                    && (selector[.status].map { (delivery.state ?? "unread") == $0 } ?? true)
                    && (selector.since.map { delivery.receivedAt >= $0 } ?? true)
                    && (selector.until.map { delivery.receivedAt < $0 } ?? true)
            }
        } else {
            var filter = DeliveryFilter()
            filter.connector = selector[.connector]
            filter.state = selector[.status]
            filter.since = selector.since
            filter.until = selector.until
            filter.limit = limit
            found = try await store.deliveries(filter)
        }
        let environment = selector[.environment] ?? parsed.option("environment")
        return Array(
            found.filter { delivery in environment.map { delivery.environment == $0 } ?? true }
                .prefix(limit))
    }

    /// The rows with these ids, each id once and none missing.
    func picked<Row>(
        _ ids: [String], _ rows: [Row], _ noun: String, id: (Row) -> String
    ) throws -> [Row] {
        try ids.map { wanted in
            guard let row = rows.first(where: { id($0).utf8.starts(with: wanted.utf8) }) else {
                throw ReplayFailure.notFound(
                    "There is no \(noun) \(wanted) among the newest \(rows.count); use --where.")
            }
            return row
        }
    }
}
