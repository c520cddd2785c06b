internal import JSON

// Conditions: one object with one operator.
extension DefinitionReader {
    static let operators = [
        "all", "any", "not", "eq", "neq", "lt", "lte", "gt", "gte", "between", "in", "contains",
        "starts_with", "ends_with", "exists", "feature", "segment", "subscription", "events", "ir",
    ]

    /// Nesting bound of a condition.
    static let longestConditionDepth = 32
    /// Bound of a condition's operators, leaves included.
    static let mostConditionNodes = 512

    /// A whole condition within the limits.
    mutating func condition(_ node: Node) -> Condition? {
        var nodes = 0
        let condition = condition(node, depth: 1, nodes: &nodes)
        if nodes > Self.mostConditionNodes {
            complain(
                node,
                "This condition has more than \(Self.mostConditionNodes) operators; split it over "
                    + "several branches.", .size)
            return nil
        }
        return condition
    }

    mutating func condition(_ node: Node, depth: Int, nodes: inout Int) -> Condition? {
        nodes += 1
        guard nodes <= Self.mostConditionNodes else { return nil }
        guard depth <= Self.longestConditionDepth else {
            complain(
                node,
                "This condition is nested more than \(Self.longestConditionDepth) deep; flatten it.",
                .size)
            return nil
        }
        guard let object = node.value.object else {
            complain(
                node,
                "A condition is an object with one operator such as {\"eq\": […]}, not "
                    + "\(node.value.kind).")
            return nil
        }
        guard let member = object.members.first, object.count == 1 else {
            complain(
                node,
                object.isEmpty
                    ? "A condition needs one operator; use \(alternatives(Self.operators))."
                    : "A condition has one operator and this has \(object.count) keys; join several "
                        + "as {\"all\": [{…}, {…}]}.")
            return nil
        }
        let inner = Node(value: member.value, pointer: node.pointer.appending(member.key))
        guard Self.operators.contains(member.key) else {
            complain(
                inner,
                "\"\(member.key)\" is not an operator; use \(alternatives(Self.operators)).",
                .unknownKey,
                fix: Spelling.nearestWord(to: member.key, among: Self.operators))
            return nil
        }
        return operation(member.key, inner, depth: depth, nodes: &nodes)
    }

    private mutating func operation(
        _ name: String, _ node: Node, depth: Int, nodes: inout Int
    ) -> Condition? {
        switch name {
        case "all": return conditions(node, name, depth, &nodes).map { .all($0) }
        case "any": return conditions(node, name, depth, &nodes).map { .any($0) }
        case "not": return condition(node, depth: depth + 1, nodes: &nodes).map { .not($0) }
        case "between": return between(node)
        case "in": return isIn(node)
        case "exists": return exists(node)
        case "feature": return feature(node)
        case "segment": return segment(node)
        case "subscription": return subscription(node, depth: depth, nodes: &nodes)
        case "events": return events(node)
        case "ir": return envelope(node)
        case "contains":
            guard let (left, right) = pair(node, name, "[array or string, value]") else {
                return nil
            }
            note(.containment(left, right, at: node.pointer))
            return .contains(left, right)
        default: break
        }
        if let comparison = Condition.Comparison(rawValue: name) {
            guard let (left, right) = pair(node, name, "[value, value]") else { return nil }
            note(.comparison(comparison, left, right, at: node.pointer))
            if comparison == .eq, left.followsClock || right.followsClock {
                problems.add(
                    node.pointer,
                    "The clock shows an instant for one millisecond, and hardly anybody looks just then; "
                        + "compare /now with lt, lte, gt, gte or between.",
                    code: .doubt, severity: .warning)
            }
            return .compare(comparison, left, right)
        }
        guard let test = Condition.TextTest(rawValue: name),
            let (left, right) = pair(node, name, "[string, string]")
        else { return nil }
        note(.text(left, at: node.pointer.appending(0)))
        note(.text(right, at: node.pointer.appending(1)))
        return .text(test, left, right)
    }

    private mutating func conditions(
        _ node: Node, _ name: String, _ depth: Int, _ nodes: inout Int
    ) -> [Condition]? {
        guard let items = items(node, "\"\(name)\"", most: Self.mostConditionNodes) else {
            return nil
        }
        var read: [Condition] = []
        for item in items {
            if let one = condition(item, depth: depth + 1, nodes: &nodes) { read.append(one) }
        }
        return read.count == items.count ? read : nil
    }

    private mutating func operands(_ node: Node, _ name: String, _ shape: String, _ count: Int)
        -> [Node]?
    {
        if let items = node.items, items.count == count { return items }
        complain(node, "The operator \"\(name)\" takes \(shape).")
        return nil
    }

    private mutating func pair(_ node: Node, _ name: String, _ shape: String) -> (Value, Value)? {
        guard let items = operands(node, name, shape, 2) else { return nil }
        let left = value(items[0])
        let right = value(items[1])
        guard let left, let right else { return nil }
        return (left, right)
    }

    private mutating func between(_ node: Node) -> Condition? {
        guard let items = operands(node, "between", "[value, low, high]", 3) else { return nil }
        let value = value(items[0])
        let low = self.value(items[1])
        let high = self.value(items[2])
        guard let value, let low, let high else { return nil }
        note(.comparison(.gte, value, low, at: node.pointer))
        note(.comparison(.lte, value, high, at: node.pointer))
        return .between(value, low: low, high: high)
    }

    private mutating func isIn(_ node: Node) -> Condition? {
        guard let items = operands(node, "in", "[value, [values]]", 2) else { return nil }
        let value = value(items[0])
        guard let choices = items[1].items, (1...1_000).contains(choices.count) else {
            complain(
                items[1],
                "The second operand of \"in\" is a list of 1 to 1000 values; for an array that is "
                    + "read, use {\"contains\": [array, value]}.")
            return nil
        }
        var read: [Value] = []
        for choice in choices {
            guard let one = self.value(choice) else { continue }
            read.append(one)
            if let value { note(.membership(value, one, at: choice.pointer)) }
        }
        guard let value, read.count == choices.count else { return nil }
        return .isIn(value, read)
    }

    private mutating func exists(_ node: Node) -> Condition? {
        guard let object = node.value.object, object.count == 1, let target = object["ref"] else {
            complain(node, "The operator \"exists\" takes {\"ref\": \"/…\"} and nothing beside it.")
            return nil
        }
        return pointer(Node(value: target, pointer: node.pointer.appending("ref")))
            .map { .exists($0) }
    }
}

extension Value {
    /// Whether it is `/now`, moved or not: another instant with every look.
    fileprivate var followsClock: Bool {
        switch self {
        case .reference(let pointer, _): pointer.tokens == ["now"]
        case .time(let base, _): base.followsClock
        case .literal, .template: false
        }
    }
}
