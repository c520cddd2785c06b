internal import JSON
internal import JourneyModel
internal import TimeZones

// Conditions about what is known of the customer: features, segments, subscriptions, stored events.
extension DefinitionReader {
    mutating func feature(_ node: Node) -> Condition? {
        let what = "a feature condition"
        guard
            let fields = fields(
                node, what, keys: ["id", "entity", "allowed", "unlimited", "balance"])
        else { return nil }
        let id = required("id", in: fields, what).flatMap { node -> String? in
            if let text = node.value.string, isFeatureName(text) { return text }
            complain(node, "A feature's id is a text without blanks and slashes.")
            return nil
        }
        let entity = fields["entity"].map { node -> Value? in
            guard let value = value(node) else { return nil }
            note(.text(value, at: node.pointer))
            return value
        }
        var allowed = fields["allowed"].flatMap { boolean($0, "\"allowed\"") }
        let unlimited = fields["unlimited"].flatMap { boolean($0, "\"unlimited\"") }
        let balance = fields["balance"].map { numbers($0, "a balance", wholeFrom: nil) }
        if fields["allowed"] == nil, fields["unlimited"] == nil, balance == nil { allowed = true }
        guard let id, isUsable(entity), isUsable(balance) else { return nil }
        return .feature(
            FeatureTest(
                id: id, entity: entity ?? nil, allowed: allowed, unlimited: unlimited,
                balance: balance ?? nil))
    }

    mutating func segment(_ node: Node) -> Condition? {
        let what = "a segment condition"
        guard let fields = fields(node, what, keys: ["id", "member", "entered_within"]) else {
            return nil
        }
        let id = required("id", in: fields, what).flatMap { segmentName($0) }
        var test: SegmentTest?
        switch (fields["member"], fields["entered_within"]) {
        case (let member?, nil): test = boolean(member, "\"member\"").map { .member($0) }
        case (nil, let span?):
            test = duration(span, "\"entered_within\"", .seconds(1)...Self.longAgo)
                .map { .enteredWithin($0) }
        case (nil, nil), (_?, _?):
            complain(
                node, "A segment condition has exactly one of \"member\" and \"entered_within\".")
        }
        guard let id, let test else { return nil }
        return .segment(id, test)
    }

    mutating func subscription(_ node: Node, depth: Int, nodes: inout Int) -> Condition? {
        let outer = asksEverySubscription
        asksEverySubscription = true
        defer { asksEverySubscription = outer }
        return condition(node, depth: depth + 1, nodes: &nodes).map { .subscription($0) }
    }

    static let longAgo = Duration.seconds(3_660 * 86_400)
    /// As many events are counted at most.
    private static let mostEvents: Int64 = 10_000

    mutating func events(_ node: Node) -> Condition? {
        let what = "an events condition"
        guard
            let fields = fields(
                node, what, keys: ["event", "where", "unless", "within", "since", "count"],
                refused: [
                    "correlate": "An events condition looks at all of the customer's events; leave "
                        + "\"correlate\" out."
                ])
        else { return nil }
        if isInsideHistory {
            complain(
                node,
                "An events condition stands in no where of another; ask both questions side by side.",
                .combination)
        }
        isInsideHistory = true
        let match = eventMatch(fields, what, isEntry: !scope.hasRun)
        isInsideHistory = false
        var since: EventHistory.Since?
        switch (fields["within"], fields["since"]) {
        case (let span?, nil):
            since = duration(span, "\"within\"", .seconds(1)...Self.longAgo).map { .within($0) }
        case (nil, let node?): since = historySince(node)
        case (nil, nil), (_?, _?):
            complain(node, "An events condition has exactly one of \"within\" and \"since\".")
        }
        let count = fields["count"].map { numbers($0, "a count", wholeFrom: 0) }
        guard let match, let since, isUsable(count) else { return nil }
        var history = EventHistory(match: match, since: since)
        if let count, let count { history.range = count }
        return .events(history)
    }

    private mutating func historySince(_ node: Node) -> EventHistory.Since? {
        if node.value.string == "run" {
            if scope.hasRun { return .run }
            complain(
                node, "No run exists here, so \"since\" is an instant, or write \"within\".",
                .pointer)
            return nil
        }
        return instant(node).map { .instant($0) }
    }

    /// `{"gte": 1}`, `{"lte": 3}` or both.
    private mutating func numbers(
        _ node: Node, _ what: String, wholeFrom least: Int64?
    ) -> NumberRange? {
        guard let fields = fields(node, what, keys: ["gte", "lte"]) else { return nil }
        if fields["gte"] == nil, fields["lte"] == nil {
            complain(node, "\(capitalised(what)) needs \"gte\", \"lte\" or both.")
            return nil
        }
        var bounds: [JSONNumber?] = []
        for key in ["gte", "lte"] {
            guard let bound = fields[key] else {
                bounds.append(nil)
                continue
            }
            if let least {
                guard let whole = integer(bound, "\"\(key)\"", least...Self.mostEvents) else {
                    return nil
                }
                bounds.append(JSONNumber(Int64(whole)))
            } else {
                guard let number = bound.value.number else {
                    complain(bound, "\"\(key)\" is a number, not \(bound.value.kind).")
                    return nil
                }
                bounds.append(number)
            }
        }
        if let low = bounds[0], let high = bounds[1], JSONNumber.compare(low, high) > 0 {
            complain(
                node, "No number is at least \(low.literal) and at most \(high.literal).", .range)
            return nil
        }
        return NumberRange(atLeast: bounds[0], atMost: bounds[1])
    }

    /// A public Nuxie envelope. What this evaluator does not know is never *true*, and said.
    mutating func envelope(_ node: Node) -> Condition? {
        let reading: ConditionEnvelope
        do throws(ConditionEnvelope.Problem) {
            reading = try ConditionEnvelope(node.value)
        } catch {
            complain(node, error.sentence, error.isTooLarge ? .size : .form)
            return nil
        }
        for unknown in reading.unknown {
            problems.add(
                node.pointer,
                "This envelope holds \(unknown), which is not known here: that part is never true.",
                code: .doubt, severity: .warning)
        }
        return .envelope(node.value, reading.condition)
    }
}

/// Whether a part is absent or was read; only one that is there and wrong is not.
private func isUsable<Part>(_ part: Part??) -> Bool {
    switch part {
    case .none: true
    case .some(let read): read != nil
    }
}
