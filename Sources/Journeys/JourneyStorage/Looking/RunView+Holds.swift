internal import JourneyEngine
internal import JourneyModel
internal import TimeZones

// Every live run stands for a reason that can be told from what is stored: where none is found, that is
// told as the fault it is.
extension RunView {
    package var holds: [Hold] {
        if summary.endedAt != nil { return holdsOfEnded }
        var holds = turnHolds
        holds += stepHolds
        if holds.isEmpty { holds.append(.nothing("it waits for nothing that is known")) }
        if !holds.contains(where: \.isNoWorker), let absence = workerAbsence {
            holds.append(absence)
        }
        holds += effects.filter { $0.status == "unknown" && $0.discarded == nil }
            .map { .unsettled($0) }
        return holds
    }

    private var holdsOfEnded: [Hold] {
        var holds: [Hold] = [.ended(status: summary.status, reason: summary.reason)]
        // Newest first: one that another was requested after is not what it failed with.
        let last = effects.first { $0.account != "$outbound" }
        if summary.status == "failed", let last, last.isDead {
            holds.append(.deadEffect(last))
        }
        holds += effects.filter {
            $0.status == "unknown" && $0.discarded == nil
                && !holds.contains(.deadEffect($0))
        }
        .map { .unsettled($0) }
        return holds
    }

    // MARK: The customer's turn

    private var turnHolds: [Hold] {
        var holds: [Hold] = []
        if let aside = standing.setAside {
            if let at = aside.retryAt {
                holds.append(.retrying(error: aside.error, at: at))
            } else {
                holds.append(.stuck(error: aside.error))
            }
        }
        let overdue = standing.timerDue.flatMap { $0 < now ? $0 : nil }
        if standing.oldestUnread != nil || overdue != nil {
            if let absence = workerAbsence {
                holds.append(absence)
            } else if let trouble = turnTrouble {
                holds.append(.turnTrouble(trouble))
            }
        }
        if let since = standing.oldestUnread {
            holds.append(
                .unreadInputs(
                    count: standing.unreadInputs, since: since, ahead: standing.inputsAhead))
        }
        if let overdue { holds.append(.overdue(since: overdue)) }
        return holds
    }

    private var workers: [WorkerProcess] { processes.filter { $0.roles.contains(.worker) } }

    private var workerAbsence: Hold? {
        if workers.contains(where: { $0.isThere(at: now) }) { return nil }
        return .noWorker(
            seen: workers.map(\.seenAt).max(), turn: workers.compactMap(\.turnAt).max())
    }

    private var turnTrouble: String? {
        let there = workers.filter { $0.isThere(at: now) }
        return there.contains { $0.turnTrouble == nil } ? nil : there.first?.turnTrouble
    }

    // MARK: The step

    private var stepHolds: [Hold] {
        guard let position = run.position else {
            return [.nothing("it is live and stands at no step")]
        }
        switch position.waiting {
        case .effect(let invocation, requestedOrdinal: _):
            guard let effect = awaited else {
                return [.nothing("its effect \(invocation) is not stored")]
            }
            return holds(at: effect)
        case .delay(let due), .window(opens: let due): return withTimer([.timer(due: due)])
        case .events(mark: _, let due): return withTimer([.events(until: due)])
        }
    }

    /// A due time needs the customer's timer, unless a turn is at hand anyway.
    private func withTimer(_ holds: [Hold]) -> [Hold] {
        guard let wake = summary.wakeAt, standing.oldestUnread == nil,
            standing.timerDue.map({ $0 > wake }) ?? true
        else { return holds }
        return [.nothing("its next wake \(wake) has no timer")] + holds
    }

    private func holds(at effect: EffectView) -> [Hold] {
        let told = Hold.effect(effect, lastOutcome: queue?.lastOutcome)
        if effect.endedAt != nil {
            return standing.oldestUnread == nil
                ? [
                    .nothing("its effect ended \(effect.status), and no result is on its way"),
                    told,
                ]
                : [told]
        }
        guard let queue else {
            return [.nothing("its effect \(effect.status) is in no queue"), told]
        }
        if effect.leaseUntil.map({ $0 > now }) ?? false { return [told] }
        if let opens = windowOpensAt, opens > now {
            return [.window(effect, opens: opens)] + dispatchHolds(effect) + [told]
        }
        let isDue = (effect.dueAt ?? effect.leaseUntil).map { $0 <= now } ?? false
        var holds = dispatchHolds(effect)
        if holds.isEmpty, isDue { holds = queueHolds(effect, queue) }
        return isDue ? holds + [told] : [told] + holds
    }

    /// What keeps every attempt of the effect from starting, whenever it is due.
    private func dispatchHolds(_ effect: EffectView) -> [Hold] {
        let dispatchers = processes.filter { $0.roles.contains(.dispatch) }
        guard dispatchers.contains(where: { $0.isThere(at: now) }) else {
            return [.noDispatcher(seen: dispatchers.map(\.seenAt).max())]
        }
        let sending = dispatchers.filter { $0.sends(at: now) }
        if sending.isEmpty { return [.held] }
        let serving = sending.filter { $0.account(of: effect) != nil }
        if serving.isEmpty { return [.noAccount(effect)] }
        guard !serving.contains(where: { $0.dispatchTrouble == nil }),
            let trouble = serving.first?.dispatchTrouble
        else { return [] }
        return [.dispatchTrouble(trouble)]
    }

    /// What a due effect has before it.
    private func queueHolds(_ effect: EffectView, _ queue: QueueStanding) -> [Hold] {
        let sending = processes.filter { $0.sends(at: now) && $0.account(of: effect) != nil }
        let accounts = sending.compactMap { $0.account(of: effect) }
        if let most = accounts.compactMap(\.concurrency).max(), queue.accountUnderWay >= most {
            return [.accountBusy(effect, concurrency: most)]
        }
        let most = sending.reduce(0) { $0 + $1.dispatchConcurrency }
        if queue.underWay >= most { return [.dispatchBusy(concurrency: most)] }
        if let rate = accounts.compactMap(\.ratePerSecond).max(), rate > 0 {
            let next = queue.rateFrom.map { $0 + .microseconds(Int64(1_000_000 / rate)) } ?? now
            if next > now || queue.ahead > 0 {
                return [
                    .accountRate(
                        effect, perSecond: rate, next: max(next, now), ahead: queue.ahead)
                ]
            }
        }
        return queue.ahead > 0 ? [.behind(effect, ahead: queue.ahead)] : []
    }
}

extension RunView.Hold {
    fileprivate var isNoWorker: Bool { if case .noWorker = self { true } else { false } }
}

extension EffectView {
    /// Ended without success, and settled by nobody.
    fileprivate var isDead: Bool {
        ["failed", "timed_out", "expired", "unknown"].contains(status) && discarded == nil
    }
}

extension WorkerProcess {
    fileprivate func account(of effect: EffectView) -> Account? {
        accounts.first { $0.tool == effect.tool && $0.name == effect.account ?? "" }
    }
}
