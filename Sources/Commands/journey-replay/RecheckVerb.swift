internal import CommandLine
internal import Configuration
internal import Connectors
internal import JSON
internal import JourneyModel
internal import JourneyStorage
internal import JourneyTurns
internal import Settings
internal import TimeZones

extension ReplayCall {
    /// `deliveries recheck`: checks signatures and mapping of stored bodies again, and changes nothing.
    func recheckDeliveries(_ words: [String]) async throws {
        let selector = try Selector(
            words, parsed, known: CommandSpecification.replayTerms, statuses: Self.deliveryStates,
            now: command.now(), inputLine: command.inputLine)
        guard words.isEmpty != parsed.all("where").isEmpty else {
            throw UsageError(
                path: parsed.path,
                "deliveries recheck takes ids, or --where for several; one of them.")
        }
        let configured = try parsed.option("config").map {
            try WorkerSettings.read(.file($0, environment: environment)).connectors
        }
        try await withDatabase { pool in
            let selection = try await deliverySelection(selector, in: LookStore(pool: pool))
            var recheck = Recheck(configured: configured, tellsAll: !words.isEmpty)
            let store = BatchStore(pool: pool)
            var cursor: Int64? = 0
            while let after = cursor, recheck.rows.count < selector.limit {
                let page = try await store.candidates(
                    selection, after: after, limit: BatchStore.pageLimit)
                for candidate in page.candidates { recheck.take(candidate) }
                cursor = page.next
            }
            for id in selection.ids where !recheck.seen.contains(id) {
                throw ReplayFailure.notFound(
                    "There is no delivery \(id); journey-replay deliveries lists them.")
            }
            printTable(
                Table(
                    columns: Recheck.columns, rows: Array(recheck.rows.prefix(selector.limit)),
                    idKey: "delivery"), limit: selector.limit)
            terminal.error.writeLine(recheck.sentence)
            if configured == nil {
                terminal.error.writeLine(
                    "Without --config each connector is taken for the provider of its name, and "
                        + "nothing is authenticated.")
            }
        }
    }
}

/// What checking stored deliveries again shows.
private struct Recheck {
    private let configured: [String: Connector]?
    private let tellsAll: Bool
    /// Connectors made from shipped providers, where no configuration names them.
    private var assumed: [String: Connector] = [:]
    var rows: [JSONValue] = []
    var seen: Set<Int64> = []
    private var same = 0
    private var different = 0
    private var unable = 0
    private var refused = 0

    init(configured: [String: Connector]?, tellsAll: Bool) {
        self.configured = configured
        self.tellsAll = tellsAll
    }

    static let columns = [
        Table.Column("DELIVERY", key: "delivery", alignment: .right),
        Table.Column("CONNECTOR", key: "connector"),
        Table.Column("AUTHENTICATED", key: "authenticated"),
        Table.Column("MAPPING", key: "mapping"), Table.Column("BEFORE", key: "before"),
        Table.Column("NOW", key: "after"), Table.Column("STATE", key: "state"),
        Table.Column("REASON", key: "reason"), Table.Column("RECEIVED", key: "received_at"),
    ]

    var sentence: String {
        "\(counted(seen.count, "delivery")) checked again: \(same) the same, \(different) would change, "
            + "\(unable) cannot be read again, \(refused) would not be authenticated."
    }

    mutating func take(_ candidate: DeliveryCandidate) {
        let delivery = candidate.delivery
        seen.insert(delivery.id)
        let connector = connector(delivery.connector)
        var reasons: [String] = []
        var row = JSONObject([
            ("delivery", .integer(delivery.id)), ("connector", .string(delivery.connector)),
        ])
        var isTold = tellsAll
        switch configured == nil ? nil : authenticate(candidate, connector) {
        case nil: row["authenticated"] = .null
        case .accepted?: row["authenticated"] = true
        case .refused(let refusal)?:
            row["authenticated"] = false
            reasons.append("\(refusal)")
            refused += 1
            isTold = true
        }
        let review = DeliveryReview(connectors: connector.map { [delivery.connector: $0] } ?? [:])
        switch review.review(delivery, hasBody: candidate.hasBody) {
        case .same:
            row["mapping"] = "same"
            same += 1
        case .unable(let sentence):
            row["mapping"] = "unable"
            reasons.append(sentence)
            unable += 1
            isTold = true
        case .differs(let before, let after):
            row["mapping"] = "differs"
            row["before"] = before.map { .string($0.name) }
            row["after"] = .string(after.name)
            reasons += Self.changes(from: before, to: after)
            different += 1
            isTold = true
        }
        guard isTold else { return }
        row["state"] = .string(candidate.state)
        if !reasons.isEmpty { row["reason"] = .string(reasons.joined(separator: "; ")) }
        row["received_at"] = .string(delivery.receivedAt.description)
        rows.append(.object(row))
    }

    private func authenticate(
        _ candidate: DeliveryCandidate, _ connector: Connector?
    ) -> AuthenticationOutcome? {
        guard candidate.hasBody else { return nil }
        return connector?.authenticateAgain(
            headers: candidate.signatureHeaders, body: candidate.delivery.body,
            at: candidate.delivery.receivedAt)
    }

    private mutating func connector(_ name: String) -> Connector? {
        if let configured { return configured[name] }
        if let known = assumed[name] { return known }
        guard let provider = ProviderDefinition.shipped(named: name) else { return nil }
        let made = try? Connector(
            name: name, provider: provider,
            authentication: [Authentication(scheme: .none, secrets: [])],
            allowsUnauthenticated: true)
        assumed[name] = made
        return made
    }

    /// What of the event changes besides its name.
    private static func changes(from before: Event?, to after: Event) -> [String] {
        guard let before else { return ["it was never read"] }
        var changes: [String] = []
        if before.person != after.person { changes.append("another customer") }
        if before.occurredAt != after.occurredAt { changes.append("another time") }
        if before.environment != after.environment { changes.append("another environment") }
        let names = Set(before.properties.map(\.key)).union(after.properties.map(\.key))
        let changed = names.filter { before.properties[$0] != after.properties[$0] }.sorted()
        if !changed.isEmpty {
            changes.append("properties: " + changed.prefix(10).joined(separator: ", "))
        }
        return changes
    }
}
