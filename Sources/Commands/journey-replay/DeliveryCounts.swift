internal import CommandLine
internal import JSON
internal import JourneyStorage
internal import TimeZones

extension ReplayCall {
    /// `deliveries count`: sums by connector and state.
    func countDeliveries() async throws {
        guard parsed.allArguments("WORD").count == 1 else {
            throw UsageError(
                path: parsed.path, "deliveries count takes no ids; narrow it with --where.")
        }
        let selector = try Selector(
            [], parsed, known: [.connector, .status, .since, .until],
            statuses: Self.deliveryStates, now: command.now(), inputLine: command.inputLine)
        try await withDatabase { pool in
            let store = LookStore(pool: pool)
            var filter = DeliveryFilter()
            filter.connector = selector[.connector]
            filter.state = selector[.status]
            filter.since = selector.since
            filter.until = selector.until
            printTable(
                Table(
                    columns: [
                        Table.Column("CONNECTOR", key: "connector"),
                        Table.Column("STATUS", key: "status"),
                        Table.Column("COUNT", key: "count", alignment: .right),
                    ],
                    rows: try await store.deliveryCounts(filter).map {
                        [
                            "connector": .string($0.connector), "status": .string($0.state),
                            "count": .integer($0.count),
                        ]
                    }, idKey: "connector"))
            try await tellSilence(in: store)
        }
    }

    /// Says which connectors are silent for longer than expected.
    func tellSilence(in store: LookStore) async throws {
        for activity in try await store.activities() where activity.isSilent {
            terminal.error.writeLine(
                printable(
                    "\(activity.connector) is silent: it last delivered at \(activity.lastAt)."))
        }
    }
}
