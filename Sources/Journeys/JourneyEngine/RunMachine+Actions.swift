internal import JSON
internal import JourneyModel
internal import TimeZones
internal import WorkflowDefinitions

// The step that asks for an effect, and the two that the engine carries out itself.
extension RunMachine {
    // MARK: action

    mutating func enter(_ action: ActionStep, id: StepID, visit: Int) {
        if visit >= definition.limits.visits {
            end(.failed(error: "loop"))
            return
        }
        // What the steps before it read may have made the goal or an exit true (S12).
        takeStanding()
        guard run.status.isLive else { return }
        switch build(action.parameters) {
        case .failure(let missing): leave(action, id: id, forMissing: missing)
        case .success(let request):
            guard let times = findTimes(of: action) else {
                let problem: JSONValue = ["error": "expired", "detail": "the window never opens"]
                run.results[id] = problem
                leave(action, id: id, by: .timedOut, because: problem)
                return
            }
            let effect = EffectRequest(
                invocation: Self.makeInvocation(run: run.id, step: id, group: visit), run: run.id,
                step: id, attemptGroup: visit, tool: action.tool, account: action.account,
                request: request, requestedAt: now, notBefore: times.notBefore,
                deadline: times.notBefore + action.deadline, window: times.window,
                attemptTimeout: action.attemptTimeout, retry: action.retry)
            if let withholding = run.withholding {
                return withhold(action, effect, because: withholding)
            }
            tell { $0.requests.append(effect) }
            record(.requested, effect.historyMembers)
            wait(
                at: id, visit: visit,
                for: .effect(effect.invocation, requestedOrdinal: ordinal))
        }
    }

    /// SHA-256 of `runId:stepId:attemptGroup`, as the public vectors form it (S13).
    static func makeInvocation(run: RunID, step: StepID, group: Int) -> InvocationID {
        InvocationID.make(run: run, step: step, group: group)
    }

    private mutating func build(_ parameters: ValueTree) -> Result<JSONObject, MissingValue> {
        evaluate { evaluator in
            do throws(MissingValue) {
                return .success(try evaluator.buildParameters(parameters))
            } catch {
                return .failure(error)
            }
        }
    }

    private mutating func leave(_ action: ActionStep, id: StepID, forMissing missing: MissingValue)
    {
        let problem: JSONValue = ["error": "missing", "detail": .string(missing.description)]
        run.results[id] = problem
        leave(action, id: id, by: .failed, because: problem)
    }

    /// The first instant at which gap and window allow an attempt, with the window as it is to be
    /// checked before each; nil for a window that never opens.
    mutating func findTimes(
        of action: ActionStep
    ) -> (notBefore: Instant, window: AttemptWindow?)? {
        var first = now
        if let gap = action.gap, let last = run.lastMessageAt { first = max(first, last + gap) }
        guard let window = action.window else { return (first, nil) }
        let zone = findZone(window.timezone)
        let state = evaluate { $0.state(of: window.window, at: first, in: zone) }
        guard let state, let opens = state.isOpen ? first : state.opensAt else { return nil }
        return (opens, AttemptWindow(window: window.window, zone: zone.name))
    }

    /// Keeps when a message was sent, or may have been: `gap` counts from it. Whether an account carries
    /// messages is the configuration's to say, so the result tells it.
    mutating func noteSent(_ result: EffectResult, by action: ActionStep) {
        if result.isMessage ?? (action.tool == .http && result.outcome.mayHaveBeenSent) {
            run.lastMessageAt = now
        }
    }

    enum ActionEnd {
        case next, failed, timedOut
    }

    /// Takes the outlet for an action's end; without one the run fails, and says with what.
    mutating func leave(
        _ action: ActionStep, id: StepID, by end: ActionEnd, because: JSONValue
    ) {
        switch end {
        case .next: move(from: id, outlet: "next", to: action.next)
        case .timedOut:
            if let edge = action.onTimeout {
                move(from: id, outlet: "on_timeout", to: edge, because: because)
            } else {
                leave(action, id: id, by: .failed, because: because)
            }
        case .failed:
            if let edge = action.onFailed {
                move(from: id, outlet: "on_failed", to: edge, because: because)
            } else {
                self.end(.failed(error: because["error"]?.string ?? "failed"), because: because)
            }
        }
    }

    // MARK: send_event

    /// The most that an event of the engine's own may carry.
    static let mostPropertyBytes = 16_384

    mutating func enter(_ send: SendEvent, id: StepID, visit: Int) {
        let properties: JSONObject
        switch build(send.properties) {
        case .failure(let missing): return fail(forMissing: missing)
        case .success(let built): properties = built
        }
        guard JSONValue.object(properties).bytes.count <= Self.mostPropertyBytes else {
            end(
                .failed(error: "too_large"),
                because: ["detail": "the event's properties have more than 16384 bytes"])
            return
        }
        let name = "\(run.id):\(id):\(visit)"
        let event = Event(
            id: Event.makeID(connector: Event.engineConnector, providerEventID: name),
            connector: Event.engineConnector, providerEventID: name, providerType: nil,
            name: send.event, trust: .engine, person: Event.Person(id: nil), occurredAt: now,
            receivedAt: now, environment: run.environment, properties: properties,
            depth: depth + 1)
        tell { $0.emitted.append(event) }
        move(
            from: id, outlet: "next", to: send.next,
            with: JSONObject([
                ("event", .string(event.id.text)), ("name", .string(send.event)),
                ("properties", .object(properties)),
            ]))
    }

    // MARK: update_customer

    mutating func enter(_ update: UpdateCustomer, id: StepID) {
        let attributes: JSONObject
        switch build(.object(update.attributes)) {
        case .failure(let missing): return fail(forMissing: missing)
        case .success(let built): attributes = built
        }
        for (name, value) in attributes { change(name, to: value) }
        for name in update.removed { change(name, to: nil) }
        move(
            from: id, outlet: "next", to: update.next,
            with: JSONObject([
                ("set", .object(attributes)),
                ("unset", .array(update.removed.map { .string($0) })),
            ]))
    }

    /// Later steps of the decision see the change at once.
    private mutating func change(_ name: String, to value: JSONValue?) {
        facts.attributes[name] = value
        facts.recorded?.learn(JSONPointer(tokens: ["customer", name]), value)
        tell { $0.attributeChanges.append(AttributeChange(name: name, value: value)) }
    }

    private mutating func fail(forMissing missing: MissingValue) {
        end(.failed(error: "missing"), because: ["detail": .string(missing.description)])
    }
}

extension EffectRequest {
    var historyMembers: JSONObject {
        var members = JSONObject([
            ("step", .string(step.text)), ("invocation", .string(invocation.text)),
            ("attempt_group", .integer(attemptGroup)), ("tool", .string(tool.rawValue)),
            ("account", account.map { .string($0) } ?? .null), ("request", .object(request)),
            ("deadline", .string(deadline.description)),
        ])
        if notBefore != requestedAt { members["not_before"] = .string(notBefore.description) }
        members["window"] = window.map { .object($0.json) }
        return members
    }
}
