internal import HTTPServer
internal import JSON
internal import JourneyModel
internal import JourneyStorage

// POST /event and /batch: the public SDK's wire form, with its answers.

extension EventService {
    func takeClientEvent(_ request: HTTPRequest) async throws -> HTTPResponse {
        let body = try json(of: request)
        let source = try client(apiKey(of: body))
        do throws(ItemProblem) {
            let event = try makeReader(for: source).clientEvent(of: body)
            return try await storing(event, of: source)
        } catch {
            metrics.count(source: source.name, result: "refused")
            let answer: JSONValue = [
                "message": .string(error.message), "code": .string(error.code.rawValue),
                "details": ["pointer": .string(error.pointer)],
            ]
            return .json(400, answer.bytes)
        }
    }

    private func storing(_ event: Event, of source: Source) async throws(ItemProblem)
        -> HTTPResponse
    {
        do {
            let receipt = try await store(event, of: source)
            metrics.count(source: source.name, result: receipt.result.rawValue)
            let answer: JSONValue = ["status": "ok", "id": .string(event.providerEventID)]
            return .json(200, answer.bytes)
        } catch {
            return .notStored
        }
    }

    /// A refused item is answered for and never hinders the others: the SDK sends a batch once.
    func takeClientBatch(_ request: HTTPRequest) async throws -> HTTPResponse {
        let body = try json(of: request)
        let source = try client(apiKey(of: body))
        guard let items = body["batch"]?.array, items.count <= Self.mostItems else {
            let answer: JSONValue = [
                "message": .string("\"batch\" must be a list of at most \(Self.mostItems) items."),
                "code": "invalid",
            ]
            return .json(400, answer.bytes)
        }
        let reader = makeReader(for: source)
        let results = try await takeAll(items, of: source) { item throws(ItemProblem) in
            try reader.clientEvent(of: item)
        }
        let errors = results.enumerated().compactMap { place, result -> JSONValue? in
            guard let message = result["error"]?["message"] else { return nil }
            let name = items[place]["event"]?.string.map { String($0.prefix(128)) } ?? ""
            return ["index": .integer(place), "event": .string(name), "error": message]
        }
        var answer = JSONObject([
            ("status", errors.isEmpty ? "ok" : "partial"),
            ("processed", .integer(items.count - errors.count)),
            ("failed", .integer(errors.count)), ("total", .integer(items.count)),
        ])
        if !errors.isEmpty { answer["errors"] = .array(errors) }
        return .json(200, JSONValue.object(answer).bytes)
    }

    private func apiKey(of body: JSONValue) -> String? {
        body["apiKey"]?.string ?? body["api_key"]?.string
    }
}
