internal import JSON
internal import JourneyModel
package import Postgres

/// Stores what arrives: durable once `store` returns, each provider's event once (S16).
package struct DeliveryStore: Sendable {
    private let pool: PostgresPool

    /// Arrivals that one statement may take.
    package static let batchLimit = 500

    package init(pool: PostgresPool) { self.pool = pool }

    /// Stores a group of arrivals in one statement: all of them, or none when it throws.
    ///
    /// A repeat of an id with the same bytes stores nothing. A repeat with other bytes is stored as a
    /// delivery with an input of its own, for a turn to compare (S16); so is one whose first delivery
    /// is not yet visible.
    /// - Returns: one receipt for each arrival, in their order.
    package func store(
        _ arrivals: [ArrivedDelivery]
    ) async throws(PostgresError) -> [DeliveryReceipt] {
        precondition(arrivals.count <= Self.batchLimit, "more than \(Self.batchLimit) arrivals")
        if arrivals.isEmpty { return [] }
        let rows = try await pool.query(Self.storing, Self.values(of: arrivals))
        var receipts: [DeliveryReceipt] = []
        receipts.reserveCapacity(arrivals.count)
        for row in rows {
            receipts.append(
                DeliveryReceipt(
                    delivery: try row.int64("delivery"),
                    result: try row.bool("is_repeat") ? .duplicate : .accepted))
        }
        return receipts
    }

    private static func values(of arrivals: [ArrivedDelivery]) -> [PostgresValue] {
        var bodies: [[UInt8]?] = []
        var digests: [[UInt8]?] = []
        var payloads: [String?] = []
        var aliasPlaces: [Int32] = []
        var aliases: [String] = []
        for (place, arrival) in arrivals.enumerated() {
            switch arrival.content {
            case .body(let body, let digest):
                bodies.append(body)
                digests.append(digest)
                payloads.append(nil)
            case .event(let event):
                bodies.append(nil)
                digests.append([])
                payloads.append(JSONValue.object(event.json).text)
            }
            for alias in arrival.person.aliases.prefix(IdentityLimits.aliases) {
                guard let alias = usable(alias) else { continue }
                aliasPlaces.append(Int32(place + 1))
                aliases.append(alias)
            }
        }
        return [
            .textArray(arrivals.map { storable($0.connector) }),
            .textArray(arrivals.map { storable($0.providerEventID) }),
            .byteaArray(digests), .byteaArray(bodies), .textArray(payloads),
            .textArray(arrivals.map { storable($0.environment) }),
            .textArray(arrivals.map { $0.app.map(storable) }),
            .timestamptzArray(arrivals.map(\.occurredAt)),
            .textArray(arrivals.map { $0.person.id.flatMap(usable) }),
            .boolArray(arrivals.map(\.person.isAnonymous)),
            .int4Array(aliasPlaces), .textArray(aliases), .boolArray(arrivals.map(\.joins)),
            .textArray(arrivals.map { $0.signatureHeaders.map { JSONValue.object($0).text } }),
        ]
    }
}

extension ArrivedDelivery {
    /// Whether the app itself says that the ids are one person: then identified records are merged (S10).
    fileprivate var joins: Bool {
        guard case .event(let event) = content else { return false }
        return event.trust == .source && event.name == "customer.updated"
    }
}

/// Bounds on what one input may say about a person.
enum IdentityLimits {
    /// Aliases kept of one input; a provider's list can be long, and the first ones are the newest.
    static let aliases = 50
    /// Bytes of an id; a longer one is not usable.
    static let idBytes = 1_024
}

/// An id that can stand for a person: not empty, not over-long, held by PostgreSQL.
func usable(_ id: String) -> String? {
    id.isEmpty || id.utf8.count > IdentityLimits.idBytes ? nil : storable(id)
}

/// The text with U+0000, which PostgreSQL refuses, replaced by U+FFFD.
func storable(_ text: String) -> String {
    text.utf8.contains(0)
        ? String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : $0 }))
        : text
}
