internal import JSON
internal import JourneyModel

// Who enters, and how often.
extension DefinitionReader {
    mutating func entry(_ node: Node, isAutomation: Bool) -> Entry? {
        let what = "an entry"
        guard
            let fields = fields(
                node, what,
                keys: [
                    "trigger", "connectors", "where", "unless", "key", "reentry", "once_per",
                    "when_live",
                ])
        else { return nil }
        let place = required("trigger", in: fields, what)
        let trigger = place.flatMap { self.trigger($0) }
        scope = trigger.map { entryScope(of: $0) } ?? .eventUnderTest(names: [], isEntry: true)
        defer { scope = .anywhere }
        let connectors = fields["connectors"].flatMap {
            self.names($0, "the list of connectors", pattern: "\"revenuecat\"", where: isStepName)
        }
        checkConnectors(trigger, place, connectors, fields)
        let condition = fields["where"].flatMap { self.condition($0) }
        let unless = fields["unless"].flatMap { self.condition($0) }
        let key = fields["key"].flatMap { self.key($0, trigger) }
        let reentry = self.reentry(fields, place, isAutomation: isAutomation)
        let oncePer = fields["once_per"].flatMap { self.oncePer($0) }
        let whenLive = fields["when_live"].map {
            word($0, "the when_live", Entry.WhenLive.self) ?? .ignore
        }
        if whenLive == .startAnother, let reentry, reentry != .everyTime,
            let place = fields["when_live"]
        {
            complain(
                place,
                "The word start_another needs \"reentry\": \"every_time\"; write both or use ignore."
            )
        }
        guard let trigger, let reentry else { return nil }
        return Entry(
            trigger: trigger, connectors: connectors, condition: condition, unless: unless,
            key: key, reentry: reentry, oncePer: oncePer, whenLive: whenLive ?? .ignore)
    }

    private func entryScope(of trigger: Entry.Trigger) -> Scope {
        switch trigger {
        case .event(let names): .eventUnderTest(names: names, isEntry: true)
        case .segment, .date, .schedule, .api: .entryWithoutEvent
        }
    }

    /// A provider's event from a connector that may not start the workflow never comes; and only an
    /// event has a connector.
    private mutating func checkConnectors(
        _ trigger: Entry.Trigger?, _ triggerNode: Node?, _ connectors: [String]?, _ fields: Fields
    ) {
        guard let place = fields["connectors"] else { return }
        if let object = triggerNode?.value.object, object["event"] == nil {
            complain(
                place,
                "The key \"connectors\" belongs to an entry by an event; leave it out here.")
        }
        guard case .event(let names)? = trigger, let connectors else { return }
        for name in names {
            guard let (connector, _) = providerEvent(name), !connectors.contains(connector) else {
                continue
            }
            complain(
                place,
                "The event \"\(name)\" comes from the connector \(connector), which is not listed; "
                    + "add it or leave the event out.", .combination)
        }
    }

    private mutating func key(_ node: Node, _ trigger: Entry.Trigger?) -> Entry.Key? {
        let key: Entry.Key
        let place: JSONPointer
        if node.value.string == "subscription" {
            (key, place) = (.subscription, node.pointer)
        } else {
            guard let object = node.value.object, object.count == 1, let target = object["ref"],
                let text = target.string, let pointer = JSONPointer(text),
                pointer.tokens.count > 1, ["event", "customer"].contains(pointer.tokens[0])
            else {
                complain(
                    node,
                    "A key is \"subscription\" or one {\"ref\": \"/event/…\"} or "
                        + "{\"ref\": \"/customer/…\"}.")
                return nil
            }
            place = node.pointer.appending("ref")
            let subscription = Entry.Key.subscription
            key = pointer == subscription.pointer ? subscription : .reference(pointer)
        }
        checkKey(key, at: place, trigger)
        return key
    }

    /// An entry without an event takes its key from the customer, from the subscription it watches, or,
    /// for `api`, from the caller: there the field only tells which events are the run's.
    private mutating func checkKey(
        _ key: Entry.Key, at place: JSONPointer, _ trigger: Entry.Trigger?
    ) {
        switch trigger {
        case .event, nil: note(.reference(key.pointer, at: place))
        case .api: break
        case .date(let date) where date.watchesSubscriptions && key == .subscription: break
        case .date, .segment, .schedule:
            if key.pointer.tokens.first != "event" { return }
            problems.add(
                place,
                "No event starts this workflow, so the key cannot come from one; use "
                    + "{\"ref\": \"/customer/…\"} or leave it out.", code: .pointer)
        }
    }

    /// The default follows the kind; a date says it itself, because a moved date is a new occurrence.
    private mutating func reentry(
        _ fields: Fields, _ trigger: Node?, isAutomation: Bool
    ) -> Entry.Reentry? {
        if let node = fields["reentry"] { return reentry(node) }
        if trigger?.value["date"] != nil {
            complain(
                fields.node,
                "An entry by a date needs \"reentry\": a moved date is a new occurrence, and only you "
                    + "know whether it may start again; write one_time, every_time or "
                    + "{\"once_per_window\": duration}.", .missingKey)
            return nil
        }
        return isAutomation ? .everyTime : .oneTime
    }

    private mutating func reentry(_ node: Node) -> Entry.Reentry? {
        switch node.value.string {
        case "one_time": return .oneTime
        case "every_time": return .everyTime
        case let text?:
            complain(
                node,
                "The reentry is one_time, every_time or {\"once_per_window\": duration}, not "
                    + "\"\(text)\".",
                fix: Spelling.nearestWord(to: text, among: ["one_time", "every_time"]))
            return nil
        case nil:
            guard let fields = fields(node, "a reentry", keys: ["once_per_window"]),
                let window = required("once_per_window", in: fields, "a reentry")
            else { return nil }
            return duration(window, "the window", .seconds(1) ... .seconds(3_660 * 86_400))
                .map { .oncePerWindow($0) }
        }
    }

    private mutating func oncePer(_ node: Node) -> Value? {
        guard let value = value(node) else { return nil }
        if case .literal = value {
            complain(
                node,
                "The once_per is a value that differs from entry to entry, such as "
                    + "{\"ref\": \"/event/transaction_id\"}; a fixed one would let one customer in, once."
            )
            return nil
        }
        return value
    }
}

extension DateTrigger {
    /// Whether each of a customer's subscriptions is watched by itself.
    package var watchesSubscriptions: Bool { root == "subscription" }

    /// The first word of the pointer that names the date; nil for a value that is none.
    var root: String? {
        var value = value
        while true {
            switch value {
            case .reference(let pointer, _): return pointer.tokens.first
            case .time(let base, _): value = base
            case .literal, .template: return nil
            }
        }
    }
}
