internal import HTTPServer
internal import JSON
internal import JourneyModel
internal import JourneyStorage

// POST /v1/events and /v1/customers/{id}, GET /v1/customers/{id}: a back end's requests.

extension EventService {
    func takeEvents(_ request: HTTPRequest, from source: Source) async throws -> HTTPResponse {
        let body = try json(of: request)
        guard case .array(let items) = body else {
            let event = try refusing { () throws(ItemProblem) in
                try makeReader(for: source).event(of: body)
            }
            let receipt = try await store(event, of: source)
            metrics.count(source: source.name, result: receipt.result.rawValue)
            return .json(200, outcome(event, receipt).bytes)
        }
        guard (1...Self.mostItems).contains(items.count) else {
            throw RequestRefusal(
                .problem(
                    400, "too_many_items",
                    "A request holds 1 to \(Self.mostItems) items, not \(items.count)."))
        }
        let reader = makeReader(for: source)
        let results = try await takeAll(items, of: source) { item throws(ItemProblem) in
            try reader.event(of: item)
        }
        return .json(200, JSONValue.object(JSONObject([("results", .array(results))])).bytes)
    }

    /// Reads each item, stores those that can be read in their order, and answers for each.
    func takeAll(
        _ items: [JSONValue], of source: Source,
        read: (JSONValue) throws(ItemProblem) -> Event
    ) async throws -> [JSONValue] {
        var results: [JSONValue] = []
        var events: [(place: Int, event: Event)] = []
        for (place, item) in items.enumerated() {
            do throws(ItemProblem) {
                events.append((place, try read(item)))
                results.append(.null)
            } catch {
                metrics.count(source: source.name, result: "refused")
                results.append(["status": "refused", "error": error.json])
            }
        }
        for start in stride(from: 0, to: events.count, by: DeliveryStore.batchLimit) {
            let chunk = events[start..<min(start + DeliveryStore.batchLimit, events.count)]
            let receipts = try await doors.storeInOrder(
                chunk.map { arrival(of: $0.event, source) })
            doors.onStored()
            guard receipts.count == chunk.count else { throw RequestRefusal(.notStored) }
            for (told, receipt) in zip(chunk, receipts) {
                metrics.count(source: source.name, result: receipt.result.rawValue)
                results[told.place] = outcome(told.event, receipt)
            }
        }
        return results
    }

    func store(_ event: Event, of source: Source) async throws -> DeliveryReceipt {
        let receipt = try await doors.store(arrival(of: event, source))
        doors.onStored()
        return receipt
    }

    func update(
        _ customer: String, _ request: HTTPRequest, from source: Source
    ) async throws -> HTTPResponse {
        let body = try json(of: request)
        let key = try idempotencyKey(request)
        let event = try refusing { () throws(ItemProblem) in
            try makeReader(for: source).update(of: customer, body, id: key)
        }
        let receipt = try await store(event, of: source)
        metrics.count(source: source.name, result: receipt.result.rawValue)
        return .json(200, outcome(event, receipt).bytes)
    }

    func show(
        _ customer: String, _ request: HTTPRequest, to source: Source
    ) async throws -> HTTPResponse {
        let environment = environment(of: request, source)
        guard let view = try await doors.customer(customer, environment, source.app) else {
            return .problem(
                404, "not_found",
                "There is no customer of that id in \(environment); it is made by its first event.")
        }
        return .json(200, view.document.bytes)
    }

    // MARK: Parts

    func makeReader(for source: Source) -> AppEventReader {
        AppEventReader(source: source, now: clock(), makeID: makeID)
    }

    /// The body as JSON. What PostgreSQL cannot hold is replaced as in a webhook, so that ids which differ
    /// stay different and one person's are the same whoever tells them.
    func json(of request: HTTPRequest) throws(RequestRefusal) -> JSONValue {
        let bytes = try opened(request)
        do throws(JSONError) {
            return try JSONParser.parseCounting(bytes, options: .delivery).value
        } catch {
            throw RequestRefusal(
                .problem(400, "not_json", "The body must be JSON in UTF-8: \(error.description)."))
        }
    }

    private func opened(_ request: HTTPRequest) throws(RequestRefusal) -> [UInt8] {
        let codings = request.headers.values(of: "Content-Encoding").map { $0.lowercased() }
        if codings.isEmpty || codings == ["identity"] { return request.body }
        guard codings == ["gzip"] else {
            throw RequestRefusal(
                .problem(
                    400, "unknown_encoding", "The body's Content-Encoding may be gzip or identity.")
            )
        }
        do throws(Gzip.Failure) {
            return try Gzip.open(request.body, limit: largestBody)
        } catch {
            switch error {
            case .tooLarge:
                throw RequestRefusal(
                    .problem(
                        413, "too_large",
                        "The body opens to more than \(largestBody) bytes; send fewer items."))
            case .malformed:
                throw RequestRefusal(
                    .problem(400, "not_gzip", "The body is no whole gzip stream; send it again."))
            }
        }
    }

    func refusing<Read>(_ body: () throws(ItemProblem) -> Read) throws(RequestRefusal) -> Read {
        do throws(ItemProblem) {
            return try body()
        } catch {
            throw RequestRefusal(
                .json(400, JSONValue.object(JSONObject([("error", error.json)])).bytes))
        }
    }

    /// The caller's own id for the request; nil when there is none.
    func idempotencyKey(_ request: HTTPRequest) throws(RequestRefusal) -> String? {
        let keys = request.headers.values(of: "Idempotency-Key")
        guard let key = keys.first else { return nil }
        guard keys.count == 1, (1...255).contains(key.utf8.count) else {
            throw RequestRefusal(
                .problem(
                    400, "invalid_idempotency_key", "Send one Idempotency-Key of 1 to 255 bytes."))
        }
        return key
    }

    private func arrival(of event: Event, _ source: Source) -> ArrivedDelivery {
        ArrivedDelivery(
            connector: source.name, providerEventID: event.providerEventID,
            content: .event(event), environment: event.environment, app: source.app,
            person: event.person, occurredAt: event.occurredAt)
    }

    private func outcome(_ event: Event, _ receipt: DeliveryReceipt) -> JSONValue {
        [
            "status": .string(receipt.result.rawValue), "id": .string(event.providerEventID),
            "event": .string(event.id.text),
        ]
    }
}
