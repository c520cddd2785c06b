import HTTPServer
import JSON
import JourneyWorker
import TestMaterial
import Testing

/// Requests that are broken at random, against the real listener and a real database.
@Suite(.serialized, .timeLimit(.minutes(1))) struct MalformedRequestTests {
    private static let exchanges = 400
    /// Exchanges under way at once.
    private static let atOnce = 20

    @Test func `whatever is sent, no 2xx is answered without a stored row`() async throws {
        let seed = UInt64.random(in: 1...999_999)
        print("seed=\(seed)")
        var generator = SeededGenerator(seed: seed)
        let sent = (0..<Self.exchanges).map { number in
            Self.request(number, &generator)
        }
        try await World.with { world in
            var limits = HTTPLimits()
            // What is incomplete is given up at once.
            limits.headTimeout = .milliseconds(300)
            limits.bodyTimeout = .milliseconds(300)
            limits.idleTimeout = .milliseconds(300)
            try await world.withWorker(roles: [.ingest], limits: limits) { worker in
                var answers: [String] = []
                for start in stride(from: 0, to: sent.count, by: Self.atOnce) {
                    let part = sent[start..<min(start + Self.atOnce, sent.count)]
                    answers += await withTaskGroup(of: String.self) { group in
                        for bytes in part {
                            group.addTask {
                                await RawExchange.run(
                                    bytes, port: worker.door.port, on: world.loop)
                            }
                        }
                        return await group.reduce(into: []) { $0.append($1) }
                    }
                }
                let stored = Set(
                    try await world.texts("select id::text as value from journey.deliveries"))
                var taken = 0
                var refused = 0
                for answer in answers {
                    let successes = answer.components(around: "HTTP/1.1 2")
                    let numbers = successes.compactMap { Self.delivery(in: String($0)) }
                    #expect(numbers.count == successes.count, "seed=\(seed): \(answer)")
                    #expect(
                        numbers.allSatisfy(stored.contains), "seed=\(seed): \(numbers) not stored")
                    taken += numbers.count
                    refused += answer.components(around: "HTTP/1.1 4").count
                }
                // Enough stays whole to be taken, and enough is broken.
                #expect(taken > 20, "seed=\(seed)")
                #expect(refused > 100, "seed=\(seed)")
            }
        }
    }

    /// The number that an answer says a delivery is stored under.
    private static func delivery(in answer: String) -> String? {
        guard let member = answer.components(around: "\"delivery\":").first else { return nil }
        let digits = member.drop { $0 == " " || $0 == "\"" }.prefix { $0.isNumber }
        return digits.isEmpty ? nil : String(digits)
    }

    // MARK: Breaking

    private static func request(
        _ number: Int, _ generator: inout SeededGenerator
    ) -> [UInt8] {
        let body = "{\"event\":{\"id\":\"m\(number)\",\"type\":\"TEST\",\"app_user_id\":\"u\"}}"
        let head = [
            "POST /v1/webhooks/revenuecat HTTP/1.1", "Host: example.com",
            "Authorization: \(Secrets.authorization)", "Content-Type: application/json",
        ]
        let isChunked = Bool.random(using: &generator)
        let framed =
            isChunked
            ? "Transfer-Encoding: chunked\r\n\r\n\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\r\n"
            : "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        var bytes = Array((head.joined(separator: "\r\n") + "\r\n" + framed).utf8)
        for _ in 0..<Int.random(in: 0...3, using: &generator) {
            breakOnce(&bytes, &generator)
        }
        return bytes
    }

    private static let pieces = [
        "\r\n", "\n", "\r", "\0", ": ", "Content-Length: 3\r\n", "Transfer-Encoding: chunked\r\n",
        "Content-Length: 0\r\n", "Expect: 100-continue\r\n", "Connection: close\r\n", "{", "}",
        "\"",
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "\u{ff}", " ", "HTTP/1.0", "0\r\n\r\n",
    ]

    private static func breakOnce(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
        guard !bytes.isEmpty else { return }
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
        case 1: bytes.remove(at: place)
        case 2: bytes.removeSubrange(place...)
        case 3:
            let piece = pieces.randomElement(using: &generator) ?? ""
            bytes.insert(contentsOf: Array(piece.utf8), at: place)
        case 4:
            let end = min(place + Int.random(in: 1...40, using: &generator), bytes.count)
            bytes.insert(contentsOf: Array(bytes[place..<end]), at: place)
        default: bytes.append(contentsOf: bytes[place...])
        }
    }
}

extension StringProtocol {
    /// What follows each occurrence of `mark`, up to the next one.
    fileprivate func components(around mark: String) -> [Substring] {
        let text = String(self)
        let places = text.ranges(of: mark)
        return places.indices.map { place in
            let end = place + 1 < places.count ? places[place + 1].lowerBound : text.endIndex
            return text[places[place].upperBound..<end]
        }
    }
}
