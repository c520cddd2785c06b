import JourneyEngine
import JourneyModel
import JourneyTurns
import TestMaterial
import TestModel
import TimeZones

// The turns' transactions: lock, then load and decide, then write.
extension SimulatedWorld {
    @discardableResult
    mutating func advanceTurn(_ worker: Int) -> Bool {
        guard let turn = workers[worker].turn else { return lock(worker) }
        if let loaded = turn.loaded {
            workers[worker].turn = nil
            locked.subtract(turn.customers)
            // The commit fails now and then: nothing of it stays.
            if !isCalm, random.chance(5) { return true }
            for (turn, result) in loaded { commit(turn, result) }
        } else {
            let loaded = turn.customers.compactMap { load($0) }
            workers[worker].turn?.loaded = loaded
        }
        return true
    }

    private mutating func lock(_ worker: Int) -> Bool {
        var since: [CustomerID: Instant] = [:]
        for row in inbox.values where row.isVisible {
            guard let customer = row.customer else { continue }
            since[customer] = min(since[customer] ?? row.recordedAt, row.recordedAt)
        }
        for (customer, due) in timers where due <= now {
            since[customer] = min(since[customer] ?? due, due)
        }
        let ready = since.filter { !locked.contains($0.key) }
            .sorted { ($0.value, $0.key) < ($1.value, $1.key) }
        guard !ready.isEmpty else { return false }
        let customers = ready.prefix(Int.random(in: 1...2, using: &random)).map(\.key)
        if fault != .turnsDoNotLock { locked.formUnion(customers) }
        workers[worker].turn = SimulatedWorker.Turn(customers: customers)
        return true
    }

    private mutating func load(_ customer: CustomerID) -> (CustomerTurn, TurnResult)? {
        guard let model = models[customer] else { return nil }
        let unread = inbox.filter { $0.value.isVisible && $0.value.customer == customer }
            .sorted { ($0.value.recordedAt, $0.key) < ($1.value.recordedAt, $1.key) }
        // Mostly all of them fit.
        let limit = random.chance(10) ? 1 : CustomerTurn.inputLimit
        let inputs = unread.prefix(limit).map {
            TurnInput(sequence: $0.key, recordedAt: $0.value.recordedAt, content: $0.value.content)
        }
        let turn = model.turn(
            inputs: inputs, hasAllInputs: unread.count <= limit, now: now,
            definitions: definitions, earlier: events)
        return (turn, decider.decide(turn))
    }

    private mutating func commit(_ turn: CustomerTurn, _ result: TurnResult) {
        let customer = turn.customer.id
        guard var model = models[customer] else { return }
        do { try model.take(result) } catch {
            fail("a turn breaks a rule: \(error)")
            return
        }
        models[customer] = model
        guard result.takenInputs == turn.inputs.map(\.sequence) else {
            fail("a turn took \(result.takenInputs) of \(turn.inputs.map(\.sequence))")
            return
        }
        for row in result.takenInputs {
            guard inbox.removeValue(forKey: row) != nil else {
                fail("input \(row) was gone before its turn was written")
                return
            }
            taken[row, default: 0] += 1
        }
        journal.append(
            JournalRow(
                customer: customer, inputs: turn.inputs, hasAllInputs: turn.hasAllInputs,
                now: turn.now))
        for logged in result.events where events[logged.event.id] == nil {
            events[logged.event.id] = try? Event(json: logged.event.json)
        }
        write(result, of: customer)
        standing(customer)
    }

    private mutating func write(_ result: TurnResult, of customer: CustomerID) {
        for request in result.requests {
            queue[request.invocation] = QueueRow(
                request: request, customer: customer, dueAt: request.requestedAt)
        }
        let ended = Set(
            (result.changedRuns + result.newRuns).filter { !$0.status.isLive }.map(\.id))
        let named = Set(result.withdrawals.map(\.invocation))
        for (invocation, row) in queue
        where named.contains(invocation) || ended.contains(row.request.run) {
            if row.leaseUntil.map({ $0 > now }) == true {
                queue[invocation]?.isWithdrawn = true
            } else {
                queue[invocation] = nil
                withdrawn.insert(invocation)
            }
        }
        if let wakeAt = result.wakeAt {
            let stored = timers[customer]
            if fault == .timersAreNotSet, stored != nil { return }
            if stored.map({ $0 > wakeAt || $0 <= now }) ?? true { timers[customer] = wakeAt }
        } else if let stored = timers[customer], stored <= now {
            timers[customer] = nil
        }
    }

    /// After a turn, something must be under way for every live run: a timer in time, an effect, or its
    /// result.
    private mutating func standing(_ customer: CustomerID) {
        guard let model = models[customer] else { return }
        for run in model.runs.values where run.status.isLive {
            guard let version = definitions.version(run.version, of: run.workflow) else { continue }
            if let due = Engine(version.definition).nextDue(run) {
                if timers[customer].map({ $0 > due }) ?? true {
                    fail("run \(run.id) of \(run.workflow) waits for \(due) and no timer is set")
                }
                continue
            }
            let isAsked = queue.values.contains { $0.request.run == run.id && !$0.isWithdrawn }
            let isAnswered = inbox.values.contains {
                if case .result(let result) = $0.content { result.run == run.id } else { false }
            }
            if !isAsked, !isAnswered {
                fail(
                    "run \(run.id) of \(run.workflow) stands at \(run.position?.step.text ?? "?") "
                        + "and nothing will move it")
            }
        }
    }
}
