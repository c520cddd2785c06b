internal import JSON
internal import JourneyModel
internal import TimeZones
internal import WorkflowDefinitions

// Steps that wait for time alone: delays, and windows of the day.
extension RunMachine {
    // MARK: delay

    mutating func enter(_ delay: Delay, id: StepID, visit: Int) {
        switch delay.length {
        case .duration(let length):
            wait(at: id, visit: visit, for: .delay(due: now + length))
        case .until(let value):
            guard let end = findEnd(of: delay, value) else {
                leaveInvalid(delay, id: id)
                return
            }
            if end.due <= now {
                leavePast(delay, id: id, due: end.due)
            } else {
                wait(at: id, visit: visit, for: .delay(due: end.due), zone: end.zone)
            }
        }
    }

    /// When a delay until an instant ends: the instant, or a local time on its local date.
    private mutating func findEnd(
        of delay: Delay, _ value: Value
    ) -> (due: Instant, zone: WaitZone?)? {
        guard let instant = evaluate({ $0.instant(value) }) else { return nil }
        guard let time = delay.at else { return (instant, nil) }
        let zone = findZone(nil)
        return evaluate({ $0.instant(at: time, onDateOf: instant, in: zone) })
            .map { ($0, zone) }
    }

    private mutating func leaveInvalid(_ delay: Delay, id: StepID) {
        guard let edge = delay.onInvalid else {
            end(.failed(error: "invalid_instant"))
            return
        }
        move(from: id, outlet: "on_invalid", to: edge)
    }

    private mutating func leavePast(_ delay: Delay, id: StepID, due: Instant) {
        move(
            from: id, outlet: delay.onPast == nil ? "next" : "on_past",
            to: delay.onPast ?? delay.next, because: ["due": .string(due.description)])
    }

    /// Moves a delay with the value it follows: to another instant, into the past, or out of being.
    mutating func followDelay() {
        guard var position = run.position, case .delay(let due) = position.waiting,
            case .delay(let delay)? = definition.steps[position.step]?.action, delay.follows,
            case .until(let value) = delay.length
        else { return }
        guard let end = findEnd(of: delay, value) else {
            leaveInvalid(delay, id: position.step)
            return
        }
        guard end.due != due else { return }
        if end.due <= now {
            leavePast(delay, id: position.step, due: end.due)
            return
        }
        position.waiting = .delay(due: end.due)
        position.zone = end.zone
        run.position = position
        recordWaiting(position)
    }

    // MARK: time_window

    mutating func enter(_ step: TimeWindow, id: StepID, visit: Int) {
        let zone = findZone(step.timezone)
        pass(step, id: id, visit: visit, in: zone)
    }

    /// A window that was waited for: after a long outage it may have closed again.
    mutating func reopen(_ step: TimeWindow, at position: Position) {
        let zone = position.zone ?? findZone(step.timezone)
        pass(step, id: position.step, visit: position.visit, in: zone)
    }

    private mutating func pass(
        _ step: TimeWindow, id: StepID, visit: Int, in zone: WaitZone
    ) {
        let moment = now
        let state = evaluate { $0.state(of: step.window, at: moment, in: zone) }
        let clock = JSONObject([("zone", .string(zone.name)), ("tz", .string(zone.version))])
        if state?.isOpen == true {
            move(from: id, outlet: "next", to: step.next, with: clock)
        } else if let edge = step.onSkip {
            move(from: id, outlet: "on_skip", to: edge, with: clock)
        } else if let opensAt = state?.opensAt {
            wait(at: id, visit: visit, for: .window(opens: opensAt), zone: zone)
        } else {
            end(.failed(error: "window_never_opens"))
        }
    }
}
