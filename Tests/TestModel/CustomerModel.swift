internal import JSON
package import JourneyEngine
package import JourneyModel
package import JourneyTurns
package import TimeZones
internal import WorkflowDefinitions

/// One customer's rows, in memory: what a turn loads and what it writes, with the rules that the
/// database's unique indexes keep.
///
/// Runs and events go through their stored forms, as they do in the database. Nothing that a loading
/// statement leaves out to be fast is left out here: a turn that decides otherwise because of such an
/// omission is a fault.
package struct CustomerModel: Sendable {
    package private(set) var record: CustomerRecord
    package private(set) var runs: [RunID: Run] = [:]
    /// Decisions of each run, in order.
    package private(set) var history: [RunID: [Decision]] = [:]
    /// Every event, oldest first.
    package private(set) var log: [LoggedEvent] = []
    package private(set) var requests: [InvocationID: EffectRequest] = [:]
    package private(set) var withdrawals: [Withdrawal] = []
    package private(set) var subscriptions: [SubscriptionID: SubscriptionState] = [:]
    package private(set) var segments: [SegmentID: Instant] = [:]
    package private(set) var assignments: [String: String] = [:]
    package private(set) var dates: [DateEntry.Key: DateEntry] = [:]
    /// Inputs that turns put in for the customer's next one, in order.
    package private(set) var emitted: [EngineInput] = []
    /// When the last turn wanted the customer's timer.
    package private(set) var wakeAt: Instant?

    package init(_ record: CustomerRecord) { self.record = record }

    /// What a turn at `now` reads.
    ///
    /// - Parameters:
    ///   - inputs: by (recorded_at, sequence).
    ///   - earlier: events that stand in any log, by id.
    package func turn(
        inputs: [TurnInput], hasAllInputs: Bool, now: Instant, definitions: DefinitionSet,
        earlier: [EventID: Event]
    ) -> CustomerTurn {
        let limited = Set(
            definitions.live.filter { $0.definition.entry.reentry != .everyTime }.map(\.workflow))
        let compared = inputs.map { input in
            var input = input
            switch input.content {
            case .delivery(var delivery):
                delivery.earlier = input.event.flatMap { earlier[$0] }
                input.content = .delivery(delivery)
            case .replay(var delivery, let replay):
                delivery.earlier = input.event.flatMap { earlier[$0] }
                input.content = .replay(delivery, replay)
            case .event, .result, .command, .start, .exit, .schedule: break
            }
            return input
        }
        let causes = Set(inputs.compactMap(\.cause))
        let answered = Set(inputs.compactMap(Self.answeredRun))
        return CustomerTurn(
            customer: record, inputs: compared, hasAllInputs: hasAllInputs,
            runs: runs.values.filter {
                answered.contains($0.id) || isLoaded($0, now: now, definitions)
            },
            earlierEntries: entries(of: limited),
            spentCauses: Set(
                runs.values.filter {
                    causes.contains($0.cause) || $0.cause.hasPrefix("date:")
                }.map {
                    SpentCause(workflow: $0.workflow, cause: $0.cause)
                }),
            log: log, subscriptions: Array(subscriptions.values), segments: segments,
            assignments: assignments, dates: Array(dates.values), now: now)
    }

    /// Takes in what a turn wrote.
    ///
    /// - Throws: ``ModelViolation`` where the database would have stopped the transaction.
    package mutating func take(_ result: TurnResult) throws {
        record = result.customer
        for run in result.newRuns { try insert(run) }
        for run in result.changedRuns {
            guard runs[run.id] != nil else {
                throw ModelViolation("the changed run \(run.id) does not exist")
            }
            runs[run.id] = try stored(run)
        }
        try requireUnique()
        for decision in result.decisions {
            let last = history[decision.run]?.last?.number ?? 0
            guard decision.number == last + 1 else {
                throw ModelViolation(
                    "decision \(decision.number) of run \(decision.run) comes after \(last)")
            }
            history[decision.run, default: []].append(decision)
        }
        for logged in result.events {
            guard logged.ordinal > log.last?.ordinal ?? 0 else {
                throw ModelViolation("the event at \(logged.ordinal) is not the newest")
            }
            var kept = logged
            kept.event = try Event(json: logged.event.json)
            log.append(kept)
        }
        for request in result.requests {
            guard requests.updateValue(request, forKey: request.invocation) == nil else {
                throw ModelViolation("invocation \(request.invocation) was requested twice")
            }
        }
        withdrawals += result.withdrawals
        for state in result.subscriptions {
            subscriptions[state.id] = try SubscriptionState(id: state.id, json: state.json)
        }
        for change in result.segments { segments[change.segment] = change.enteredAt }
        for change in result.dates { dates[change.key] = change.entry }
        for assignment in result.assignments {
            guard assignments.updateValue(assignment.variant, forKey: assignment.experiment) == nil
            else { throw ModelViolation("\(assignment.experiment) was assigned twice") }
        }
        emitted += result.emitted
        wakeAt = result.wakeAt
    }

    // MARK: Loading

    private func isLoaded(_ run: Run, now: Instant, _ definitions: DefinitionSet) -> Bool {
        if run.status.isLive { return true }
        guard let version = definitions.version(run.version, of: run.workflow),
            let openUntil = Engine(version.definition).openUntil(run)
        else { return false }
        return openUntil >= now
    }

    private func entries(of workflows: Set<WorkflowID>) -> [EarlierEntry] {
        var newest: [EntryKey: Instant] = [:]
        for run in runs.values where workflows.contains(run.workflow) {
            switch run.status {
            case .completed, .exited:
                let key = EntryKey(workflow: run.workflow, key: run.key)
                newest[key] = max(newest[key] ?? run.enteredAt, run.enteredAt)
            case .waiting, .failed, .cancelled, .superseded: break
            }
        }
        return newest.map {
            EarlierEntry(workflow: $0.key.workflow, key: $0.key.key, enteredAt: $0.value)
        }
    }

    private struct EntryKey: Hashable {
        let workflow: WorkflowID
        let key: String?
    }

    private static func answeredRun(of input: TurnInput) -> RunID? {
        switch input.content {
        case .result(let result): result.run
        case .command(let command): command.run
        case .delivery, .event, .start, .exit, .schedule, .replay: nil
        }
    }

    // MARK: Rules

    private mutating func insert(_ run: Run) throws {
        guard runs[run.id] == nil else { throw ModelViolation("run \(run.id) was made twice") }
        let isSpent = runs.values.contains {
            $0.cause == run.cause && $0.workflow == run.workflow && $0.rerun == run.rerun
        }
        guard !isSpent else {
            throw ModelViolation("\(run.cause) has started \(run.workflow) already")
        }
        runs[run.id] = try stored(run)
    }

    private func requireUnique() throws {
        var taken: Set<String> = []
        for run in runs.values where run.status.isLive {
            let place = "\(run.workflow) \(run.key ?? "") \(run.slot)"
            guard taken.insert(place).inserted else {
                throw ModelViolation("two live runs stand at \(place)")
            }
        }
    }

    private func stored(_ run: Run) throws -> Run {
        guard let object = try JSONParser.parse(JSONValue.object(run.state).bytes).object else {
            throw ModelViolation("the state of run \(run.id) is no object")
        }
        return try Run(state: object)
    }
}

/// A rule that the database keeps, and a turn broke.
package struct ModelViolation: Error, CustomStringConvertible {
    /// Which.
    package let description: String

    package init(_ description: String) { self.description = description }
}
