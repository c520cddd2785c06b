package import JSON
package import JourneyModel
internal import TimeZones

// The stored form of a run. Format 2 has members that an earlier program would lose, and is written only
// where there are any; format 3 says of a run that it sends nothing, which no earlier program may overlook.
// A later format reads the earlier ones.
extension Run {
    /// Everything the engine needs to go on with the run.
    package var state: JSONObject {
        let later = laterState
        let first = JSONObject([
            ("format", .integer(format(later: later))),
            ("id", .string(id.text)), ("customer", .integer(customer.number)),
            ("workflow", .string(workflow.text)), ("version", .integer(version)),
            ("digest", .string(digest)), ("key", key.map { .string($0) } ?? .null),
            ("slot", .integer(slot)), ("cause", .string(cause)), ("rerun", .integer(rerun)),
            ("environment", .string(environment)),
            ("entered_at", .string(enteredAt.description)),
            ("ended_at", endedAt.map { .string($0.description) } ?? .null),
            ("status", .string(status.word)),
            ("reason", status.reason.map { .string($0) } ?? .null),
            ("trigger", .object(trigger)),
            // The bound event is the trigger until a wait binds another; written once, then.
            ("bound", bound == trigger ? .null : .object(bound)),
            ("position", position.map { .object($0.state) } ?? .null),
            ("visits", .object(JSONObject(visits.sorted().map { ($0.text, .integer($1)) }))),
            (
                "entries",
                .object(
                    JSONObject(
                        entries.sorted().map { ($0.text, .object($1.state)) }))
            ),
            ("results", .object(JSONObject(results.sorted().map { ($0.text, $1) }))),
            ("steps_entered", .integer(stepsEntered)), ("decisions", .integer(decisions)),
            ("entry_ordinal", .integer(entryOrdinal)),
            ("trigger_recorded_at", .string(triggerRecordedAt.description)),
            ("spent_events", .array(spentEvents.map { .string($0.text) })),
            ("converted_at", convertedAt.map { .string($0.description) } ?? .null),
        ])
        return JSONObject(first.members + later.members)
    }

    private func format(later: JSONObject) -> Int {
        if withholding != nil { return 3 }
        return later.isEmpty && position?.isOfFormat1 ?? true ? 1 : 2
    }

    /// Members of the later formats, each left out where it has its first value.
    private var laterState: JSONObject {
        var state = JSONObject()
        if subscription != SubscriptionID(scope: trigger) {
            state["subscription"] = subscription.map { $0.state } ?? .null
        }
        if depth != 0 { state["depth"] = .integer(depth) }
        if !milestones.isEmpty { state["milestones"] = .array(milestones.map { .string($0) }) }
        if !exposed.isEmpty { state["exposed"] = .array(exposed.map { .string($0) }) }
        state["last_message_at"] = lastMessageAt.map { .string($0.description) }
        if !invalidZones.isEmpty {
            state["invalid_zones"] = .array(invalidZones.map { .string($0) })
        }
        if hasMatched { state["has_matched"] = true }
        state["withholding"] = withholding?.json
        if !hidden.isEmpty {
            state["hidden"] = .array(
                hidden.map { [.integer($0.lowerBound), .integer($0.upperBound)] })
        }
        return state
    }

    /// Reads what ``state`` wrote.
    package init(state: JSONObject) throws(StoredFormError) {
        let reader = StoredObject(subject: "run", object: state)
        guard [1, 2, 3].contains(state["format"]?.integer) else { throw reader.error("format") }
        self.init(
            id: RunID(try reader.string("id")),
            customer: CustomerID(try reader.integer("customer")),
            workflow: WorkflowID(try reader.string("workflow")),
            version: Int(try reader.integer("version")), digest: try reader.string("digest"),
            key: state["key"]?.string, slot: Int(try reader.integer("slot")),
            cause: try reader.string("cause"), rerun: Int(try reader.integer("rerun")),
            environment: try reader.string("environment"),
            enteredAt: try reader.instant("entered_at"), trigger: try reader.object("trigger"),
            entryOrdinal: try reader.integer("entry_ordinal"))
        let word = try reader.string("status")
        guard let status = RunStatus(word: word, reason: state["reason"]?.string) else {
            throw reader.error("status")
        }
        self.status = status
        endedAt = try reader.instantIfPresent("ended_at")
        triggerRecordedAt = try reader.instant("trigger_recorded_at")
        bound = state["bound"]?.object ?? trigger
        if let stored = state["position"]?.object { position = try Position(state: stored) }
        for (step, count) in try reader.object("visits") {
            visits[StepID(step)] = Int(count.integer ?? 0)
        }
        for (step, entry) in try reader.object("entries") {
            let member = StoredObject(subject: "run", object: entry.object ?? JSONObject())
            entries[StepID(step)] = StepEntry(
                at: try member.instant("at"), ordinal: try member.integer("ordinal"),
                firstAt: try member.instantIfPresent("first_at"))
        }
        for (step, result) in try reader.object("results") { results[StepID(step)] = result }
        stepsEntered = Int(try reader.integer("steps_entered"))
        decisions = Int(try reader.integer("decisions"))
        spentEvents = (state["spent_events"]?.array ?? []).compactMap {
            $0.string.map { .init($0) }
        }
        convertedAt = try reader.instantIfPresent("converted_at")
        try readLater(reader)
    }

    private mutating func readLater(_ reader: StoredObject) throws(StoredFormError) {
        let state = reader.object
        if let stored = state["subscription"] {
            subscription = stored.object.flatMap { SubscriptionID(state: $0) }
        }
        depth = Int(state["depth"]?.integer ?? 0)
        milestones = (state["milestones"]?.array ?? []).compactMap(\.string)
        exposed = (state["exposed"]?.array ?? []).compactMap(\.string)
        lastMessageAt = try reader.instantIfPresent("last_message_at")
        invalidZones = (state["invalid_zones"]?.array ?? []).compactMap(\.string)
        hasMatched = state["has_matched"]?.bool ?? false
        if let stored = state["withholding"] {
            guard let read = Withholding(json: stored) else { throw reader.error("withholding") }
            withholding = read
        }
        for range in state["hidden"]?.array ?? [] {
            guard let range = ClosedRange(ordinals: range) else { throw reader.error("hidden") }
            hidden.append(range)
        }
    }
}

extension SubscriptionID {
    fileprivate var state: JSONValue { ["connector": .string(connector), "key": .string(key)] }

    fileprivate init?(state: JSONObject) {
        guard let connector = state["connector"]?.string, let key = state["key"]?.string else {
            return nil
        }
        self.init(connector: connector, key: key)
    }
}

extension Dictionary where Key: Comparable {
    /// Members in key order, so that the same run always has the same text.
    fileprivate func sorted() -> [(Key, Value)] {
        sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

extension StepEntry {
    /// `first_at` is left out of the first entry's form.
    fileprivate var state: JSONObject {
        var state = JSONObject([
            ("at", .string(at.description)), ("ordinal", .integer(ordinal)),
        ])
        if firstAt != at { state["first_at"] = .string(firstAt.description) }
        return state
    }
}

extension Position {
    /// Whether the first format knows everything that is written of this position.
    fileprivate var isOfFormat1: Bool {
        if case .window = waiting { return false }
        return zone == nil
    }

    fileprivate var state: JSONObject {
        var state = JSONObject([
            ("step", .string(step.text)), ("visit", .integer(visit)),
            ("entered_at", .string(enteredAt.description)),
        ])
        switch waiting {
        case .delay(let due):
            state["waiting"] = "delay"
            state["due"] = .string(due.description)
        case .window(let opens):
            state["waiting"] = "window"
            state["due"] = .string(opens.description)
        case .events(let mark, let due):
            state["waiting"] = "events"
            state["mark"] = .integer(mark)
            state["due"] = .string(due.description)
        case .effect(let invocation, let ordinal):
            state["waiting"] = "effect"
            state["invocation"] = .string(invocation.text)
            state["requested_ordinal"] = .integer(ordinal)
        }
        if let reconsiderAt { state["reconsider_at"] = .string(reconsiderAt.description) }
        if let zone {
            state["zone"] = .string(zone.name)
            state["tz"] = .string(zone.version)
        }
        return state
    }

    fileprivate init(state: JSONObject) throws(StoredFormError) {
        let reader = StoredObject(subject: "run position", object: state)
        let waiting: Waiting
        switch try reader.string("waiting") {
        case "delay": waiting = .delay(due: try reader.instant("due"))
        case "window": waiting = .window(opens: try reader.instant("due"))
        case "events":
            waiting = .events(
                mark: try reader.integer("mark"), due: try reader.instant("due"))
        case "effect":
            waiting = .effect(
                InvocationID(try reader.string("invocation")),
                requestedOrdinal: try reader.integer("requested_ordinal"))
        default: throw reader.error("waiting")
        }
        self.init(
            step: StepID(try reader.string("step")), visit: Int(try reader.integer("visit")),
            enteredAt: try reader.instant("entered_at"), waiting: waiting,
            reconsiderAt: try reader.instantIfPresent("reconsider_at"),
            zone: state["zone"]?.string.map {
                WaitZone(name: $0, version: state["tz"]?.string ?? "")
            })
    }
}
