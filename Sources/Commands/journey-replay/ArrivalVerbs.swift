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
            if !parsed.allArguments("EVENT").isEmpty {
                var found: [EventView] = []
                for id in selector.ids {
                    found.append(try await store.eventLookup.find(id, parsed.path))
                }
                return printTable(EventView.table(found))
            }
            filter.limit = min(selector.limit, LookStore.listLimit)
            var events = try await store.events(filter)
            if let environment {
                events = events.filter { $0.logged.event.environment == environment }
            }
            printTable(EventView.table(events), limit: filter.limit)
        }
    }

    static let deliveryStates =
        ["unread", "unassigned", "unknown", "ignored"] + DeliveryMark.State.allCases.map(\.rawValue)

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
        case "recheck"?: try await recheckDeliveries(Array(words.dropFirst()))
        case "count"?: try await countDeliveries()
        case _?, nil: try await listDeliveries()
        }
    }

    private func showDelivery(_ id: Int64, isRaw: Bool) async throws {
        try await withDatabase { pool in
            let (view, body) = try await findDelivery(id, in: LookStore(pool: pool))
            if isRaw {
                guard let body else {
                    throw ReplayFailure.notFound(
                        view.state == "forgotten"
                            ? "The body of delivery \(id) was erased with the person it was about."
                            : "The body of delivery \(id) is no longer kept: it is past its retention; "
                                + "its event is \(view.event?.text ?? "none").")
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
            try await tellSilence(in: store)
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
}
