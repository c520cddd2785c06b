internal import JourneyModel
internal import JourneyTurns
internal import Postgres

// `once_per`: which value a turn claims is known only when it was decided. A turn whose value somebody has
// is decided again, knowing that.
extension TurnStore {
    /// How often the turns of a batch are decided again for one value after another.
    private static let claimRounds = 50

    static func settleClaims(
        _ results: inout [TurnResult], _ batch: LoadedBatch, _ set: DefinitionSet,
        _ decide: Decide, _ report: inout Report, _ tx: PostgresTransaction
    ) async throws(PostgresError) {
        var taken: [CustomerID: Set<EntryValue>] = [:]
        for _ in 0..<claimRounds {
            let claiming = results.filter { !$0.claims.isEmpty }
            if claiming.isEmpty { return }
            let spent = try await spentValues(claiming, tx)
            if spent.isEmpty { return }
            taken.merge(spent) { $0.union($1) }
            var again: [CustomerTurn] = []
            for turn in batch.turns where spent[turn.customer.id] != nil {
                var turn = turn
                turn.takenValues = taken[turn.customer.id] ?? []
                again.append(turn)
            }
            results.removeAll { spent[$0.customer.id] != nil }
            results += Self.decide(again, set, decide, &report)
        }
        throw PostgresError(
            kind: .server,
            message:
                "the values of once_per that a batch claims were taken \(claimRounds) times over",
            sqlState: "JW001", statement: claimingValues.name)
    }

    /// Values that are stored already, or that a customer with a lower id in the batch claims.
    private static func spentValues(
        _ results: [TurnResult], _ tx: PostgresTransaction
    ) async throws(PostgresError) -> [CustomerID: Set<EntryValue>] {
        struct Place: Hashable {
            var environment: String
            var app: String
            var value: EntryValue
        }
        var spent: [CustomerID: Set<EntryValue>] = [:]
        var claimed: Set<Place> = []
        var asked: [(customer: CustomerID, place: Place)] = []
        for result in results.sorted(by: { $0.customer.id < $1.customer.id }) {
            for claim in result.claims {
                let place = Place(
                    environment: result.customer.environment, app: result.customer.app ?? "",
                    value: claim.value)
                if claimed.insert(place).inserted {
                    asked.append((result.customer.id, place))
                } else {
                    spent[result.customer.id, default: []].insert(claim.value)
                }
            }
        }
        let rows = try await tx.query(
            loadingValues,
            [
                .int8Array(asked.map(\.customer.number)),
                .textArray(asked.map(\.place.value.workflow.text)),
                .textArray(asked.map(\.place.environment)), .textArray(asked.map(\.place.app)),
                .textArray(asked.map { storable($0.place.value.text) }),
            ])
        for row in rows {
            let value = EntryValue(
                workflow: WorkflowID(try row.string("workflow")), text: try row.string("value"))
            spent[CustomerID(try row.int64("customer")), default: []].insert(value)
        }
        return spent
    }
}
