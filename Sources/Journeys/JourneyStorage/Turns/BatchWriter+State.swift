internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import JourneyTurns
internal import Postgres
internal import TimeZones

// The statements for what a turn writes beside runs, effects and history.
extension BatchWriter {
    /// Statements without rows are left out.
    var stateStatements: [(SQLStatement, [PostgresValue])] {
        segmentStatements + dateStatements
            + [writeAssignments, claimValues, insertInputs].compactMap(\.self)
    }

    private var segmentStatements: [(SQLStatement, [PostgresValue])] {
        let changes = results.flatMap { result in
            result.segments.map { (result.customer.id.number, $0) }
        }
        let entering = changes.filter { $0.1.enteredAt != nil }
        let leaving = changes.filter { $0.1.enteredAt == nil }
        var statements: [(SQLStatement, [PostgresValue])] = []
        if !entering.isEmpty {
            statements.append(
                (
                    TurnStore.enteringSegments,
                    [
                        .int8Array(entering.map(\.0)), .textArray(entering.map(\.1.segment.text)),
                        .timestamptzArray(entering.map(\.1.enteredAt)),
                    ]
                ))
        }
        if !leaving.isEmpty {
            statements.append(
                (
                    TurnStore.leavingSegments,
                    [.int8Array(leaving.map(\.0)), .textArray(leaving.map(\.1.segment.text))]
                ))
        }
        return statements
    }

    private var dateStatements: [(SQLStatement, [PostgresValue])] {
        let changes = results.flatMap { result in
            result.dates.map { (result.customer.id.number, $0) }
        }
        let gone = changes.filter { $0.1.entry == nil }
        let kept = changes.compactMap { customer, change in
            change.entry.map { (customer, $0) }
        }
        var statements: [(SQLStatement, [PostgresValue])] = []
        if !kept.isEmpty {
            statements.append(
                (
                    TurnStore.writingDates,
                    [
                        .int8Array(kept.map(\.0)), .textArray(kept.map(\.1.key.workflow.text)),
                        .textArray(kept.map { storable($0.1.key.subject) }),
                        .timestamptzArray(kept.map(\.1.date)),
                        .timestamptzArray(kept.map(\.1.dueAt)),
                        .boolArray(kept.map(\.1.isPending)),
                    ]
                ))
        }
        if !gone.isEmpty {
            statements.append(
                (
                    TurnStore.droppingDates,
                    [
                        .int8Array(gone.map(\.0)), .textArray(gone.map(\.1.key.workflow.text)),
                        .textArray(gone.map { storable($0.1.key.subject) }),
                    ]
                ))
        }
        return statements
    }

    private var writeAssignments: (SQLStatement, [PostgresValue])? {
        let assignments = results.flatMap { result in
            result.assignments.map { (result.customer.id.number, $0) }
        }
        if assignments.isEmpty { return nil }
        return (
            TurnStore.writingAssignments,
            [
                .int8Array(assignments.map(\.0)), .textArray(assignments.map(\.1.experiment)),
                .textArray(assignments.map(\.1.variant)), .timestamptz(now),
            ]
        )
    }

    private var claimValues: (SQLStatement, [PostgresValue])? {
        let claims = results.flatMap { result in result.claims.map { (result.customer, $0) } }
        if claims.isEmpty { return nil }
        return (
            TurnStore.claimingValues,
            [
                .textArray(claims.map(\.1.value.workflow.text)),
                .textArray(claims.map(\.0.environment)), .textArray(claims.map { $0.0.app ?? "" }),
                .textArray(claims.map { storable($0.1.value.text) }),
                .int8Array(claims.map(\.0.id.number)), .textArray(claims.map(\.1.run.text)),
                .timestamptz(now),
            ]
        )
    }

    private var insertInputs: (SQLStatement, [PostgresValue])? {
        let inputs = results.flatMap { result in result.emitted.map { (result.customer, $0) } }
        if inputs.isEmpty { return nil }
        return (
            TurnStore.insertingInputs,
            [
                .int8Array(inputs.map(\.0.id.number)), .textArray(inputs.map(\.1.kind.rawValue)),
                .textArray(inputs.map { JSONValue.object($0.1.json).text }),
                .textArray(inputs.map(\.0.environment)), .textArray(inputs.map(\.0.app)),
                .timestamptzArray(inputs.map(\.1.occurredAt)),
            ]
        )
    }
}

extension EngineInput {
    fileprivate var kind: InputKind {
        switch self {
        case .event: .event
        case .start: .start
        case .exit: .exit
        }
    }

    fileprivate var occurredAt: Instant? {
        if case .event(let event) = self { event.occurredAt } else { nil }
    }
}
