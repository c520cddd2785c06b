internal import JSON
internal import JourneyModel
internal import TimeZones

/// Turns the nodes of an envelope into conditions and values.
struct EnvelopeCompiler {
    private(set) var nodes = 0
    private(set) var unknown: [String] = []

    /// A node in a place where something is *true* or not.
    mutating func condition(_ json: JSONValue) -> Condition {
        nodes += 1
        let type = json["type"]?.string ?? ""
        switch type {
        case "Bool", "Boolean":
            guard let flag = json["value"]?.bool else { return refuse("a Bool without a value") }
            return .constant(flag)
        case "Number": return .constant(json["value"]?.number.map { !isZero($0) } ?? false)
        case "String": return .constant(!(json["value"]?.string ?? "").isEmpty)
        case "Null": return .constant(false)
        case "And", "All", "PredAnd": return joined(json) { .all($0) } ?? .constant(true)
        case "Or", "Any", "PredOr": return joined(json) { .any($0) } ?? .constant(false)
        case "Not": return .not(condition(json["arg"] ?? json["condition"] ?? .null))
        case "Truthy": return truth(of: json["value"] ?? .null)
        case "Compare": return compare(json)
        case "Contains":
            let whole = value(json["collection"] ?? .null)
            let part = value(json["value"] ?? .null)
            guard let whole, let part else { return refuse("a Contains of unknown values") }
            return .contains(whole, part)
        case "User": return property(json, under: "customer")
        case "Event", "Pred": return property(json, under: "event")
        case "Segment": return segment(json)
        case "Feature": return feature(json)
        case "Customer.Field", "Event.Field", "Response.Field", "List", "Array", "Object":
            return truth(of: json)
        default:
            guard let history = history(json) else { return refuse("the type \"\(type)\"") }
            // A number alone is true when it is not zero, an instant when there is one.
            return .events(history)
        }
    }

    private mutating func refuse(_ what: String) -> Condition {
        unknown.append(what)
        return .undecidable(what)
    }

    private mutating func joined(
        _ json: JSONValue, _ join: ([Condition]) -> Condition
    ) -> Condition? {
        let parts = json["args"]?.array ?? json["conditions"]?.array ?? []
        return parts.isEmpty ? nil : join(parts.map { condition($0) })
    }

    private func isZero(_ number: JSONNumber) -> Bool {
        JSONNumber.compare(number, JSONNumber(0)) == 0
    }

    // MARK: Values

    private static let roots: [String: [String]] = [
        "Customer.Field": ["customer"], "User": ["customer"], "Event.Field": ["event"],
        "Event": ["event"], "Response.Field": ["event", "values"],
    ]

    /// A node that is a value; nil when it is not known here.
    private func value(_ json: JSONValue) -> Value? {
        let type = json["type"]?.string ?? ""
        if let root = Self.roots[type] {
            return json["key"]?.string.map {
                .reference(JSONPointer(tokens: root + [$0]), default: nil)
            }
        }
        switch type {
        case "Time.Now": return .reference(JSONPointer(tokens: ["now"]), default: nil)
        case "Time.Ago":
            return span(json["duration"]).map {
                .time(.reference(JSONPointer(tokens: ["now"]), default: nil), moved: .zero - $0)
            }
        case "Timestamp":
            return instant(json, upwards: false).map { .literal(.string($0.description)) }
        default: return literal(json).map { .literal($0) }
        }
    }

    private func literal(_ json: JSONValue) -> JSONValue? {
        switch json["type"]?.string {
        case "Null": return .null
        case "Bool", "Boolean": return json["value"]?.bool.map { .bool($0) }
        case "Number", "Duration": return json["value"]?.number.map { .number($0) }
        case "String": return json["value"]?.string.map { .string($0) }
        case "List", "Array":
            let items = json["value"]?.array ?? json["items"]?.array ?? []
            let read = items.compactMap { literal($0) }
            return read.count == items.count ? .array(read) : nil
        case "Object":
            var object = JSONObject()
            for member in json["fields"]?.object ?? JSONObject() {
                guard let part = literal(member.value) else { return nil }
                object[member.key] = part
            }
            return .object(object)
        default: return nil
        }
    }

    /// Seconds since 1970 with a fraction, to a whole millisecond.
    private func instant(_ json: JSONValue, upwards: Bool) -> Instant? {
        guard json["type"]?.string == "Timestamp", let number = json["value"]?.number,
            let seconds = Double(number.literal), abs(seconds) < 253_402_300_800
        else { return nil }
        let milliseconds = seconds * 1_000
        // A binary fraction stands a hair beside the decimal one that was written.
        let whole = milliseconds.rounded()
        if abs(milliseconds - whole) < 0.000_1 { return Instant(milliseconds: Int64(whole)) }
        return Instant(
            milliseconds: Int64(milliseconds.rounded(upwards ? .up : .down)))
    }

    private func span(_ json: JSONValue?) -> Duration? {
        guard let json, json["type"]?.string == "Duration", let number = json["value"]?.number,
            let seconds = Double(number.literal), seconds >= 0, seconds < 3_660_000 * 86_400
        else { return nil }
        return .milliseconds(Int64((seconds * 1_000).rounded()))
    }

    /// Everything is true but null, false, 0 and the empty text; arrays and objects are.
    private mutating func truth(of json: JSONValue) -> Condition {
        if let literal = literal(json) {
            switch literal {
            case .null: return .constant(false)
            case .bool(let flag): return .constant(flag)
            case .number(let number): return .constant(!isZero(number))
            case .string(let text): return .constant(!text.isEmpty)
            case .array, .object: return .constant(true)
            }
        }
        guard let value = value(json) else {
            return refuse("the value \"\(json["type"]?.string ?? "")\"")
        }
        return .truthy(value)
    }

    // MARK: Comparisons

    private static let operators: [String: Condition.Comparison] = [
        "==": .eq, "!=": .neq, "<": .lt, "<=": .lte, ">": .gt, ">=": .gte, "eq": .eq,
        "equals": .eq, "neq": .neq, "not_equals": .neq, "lt": .lt, "lte": .lte, "gt": .gt,
        "gte": .gte, "is_date_exact": .eq, "is_date_after": .gt, "is_date_before": .lt,
    ]

    private mutating func compare(_ json: JSONValue) -> Condition {
        let left = json["left"] ?? .null
        let right = json["right"] ?? .null
        let name = json["op"]?.string ?? ""
        if name == "in" || name == "not_in" {
            return membership(value(left), right, negated: name == "not_in")
        }
        guard let comparison = Self.operators[name] else {
            return refuse("the operator \"\(name)\"")
        }
        if let history = history(left) {
            guard let number = json["right"]?["value"]?.number else {
                return refuse("a count compared with another value than a number")
            }
            return ranged(history, comparison, number)
        }
        // Lists are compared with nothing.
        guard literal(left)?.array == nil, literal(right)?.array == nil, let left = value(left),
            let right = value(right)
        else { return refuse("a Compare of unknown values") }
        return .compare(comparison, left, right)
    }

    private func ranged(
        _ history: EventHistory, _ comparison: Condition.Comparison, _ number: JSONNumber
    ) -> Condition {
        func events(_ low: JSONNumber?, _ high: JSONNumber?) -> Condition {
            var asked = history
            asked.range = NumberRange(atLeast: low, atMost: high)
            return .events(asked)
        }
        return switch comparison {
        case .eq: events(number, number)
        case .neq: .not(events(number, number))
        case .gte: events(number, nil)
        case .lte: events(nil, number)
        case .gt: .not(events(nil, number))
        case .lt: .not(events(number, nil))
        }
    }

    private mutating func membership(
        _ value: Value?, _ list: JSONValue, negated: Bool
    ) -> Condition {
        guard let value, let items = literal(list)?.array, !items.isEmpty else {
            return refuse("an \"in\" without a list of fixed values")
        }
        let inside = Condition.isIn(value, items.map { .literal($0) })
        return negated ? .not(inside) : inside
    }

    private mutating func property(_ json: JSONValue, under root: String) -> Condition {
        guard let key = json["key"]?.string else { return refuse("a property without a key") }
        let pointer = JSONPointer(tokens: [root, key])
        let left = Value.reference(pointer, default: nil)
        let name = json["op"]?.string ?? ""
        switch name {
        case "is_set": return .exists(pointer)
        case "is_not_set": return .not(.exists(pointer))
        case "in", "not_in":
            return membership(left, json["value"] ?? .null, negated: name == "not_in")
        case "contains":
            guard let right = value(json["value"] ?? .null) else { break }
            return .contains(left, right)
        default:
            guard let comparison = Self.operators[name], let right = value(json["value"] ?? .null)
            else { break }
            return .compare(comparison, left, right)
        }
        return refuse("the operator \"\(name)\" on a property")
    }

    // MARK: Facts

    private mutating func segment(_ json: JSONValue) -> Condition {
        guard let id = json["id"]?.string else { return refuse("a Segment without an id") }
        switch json["op"]?.string {
        case "in", "is_member", nil: return .segment(SegmentID(id), .member(true))
        case "not_in", "is_not_member": return .segment(SegmentID(id), .member(false))
        case "entered_within":
            guard let within = span(json["within"]) else { break }
            return .segment(SegmentID(id), .enteredWithin(within))
        case _?: break
        }
        return refuse("the operator \"\(json["op"]?.string ?? "")\" on a segment")
    }

    private mutating func feature(_ json: JSONValue) -> Condition {
        guard let id = json["id"]?.string else { return refuse("a Feature without an id") }
        switch json["op"]?.string {
        case "has", "is_allowed", nil: return .feature(FeatureTest(id: id, allowed: true))
        case "not_has": return .feature(FeatureTest(id: id, allowed: false))
        case "is_unlimited": return .feature(FeatureTest(id: id, unlimited: true))
        case "credits_gte":
            guard let number = json["value"]?["value"]?.number else { break }
            return .feature(FeatureTest(id: id, balance: NumberRange(atLeast: number)))
        case "credits_lte":
            guard let number = json["value"]?["value"]?.number else { break }
            return .feature(FeatureTest(id: id, balance: NumberRange(atMost: number)))
        case _?: break
        }
        return refuse("the operator \"\(json["op"]?.string ?? "")\" on a feature")
    }

    /// A question about stored events; nil when the node is none, or holds a part not known here.
    private mutating func history(_ json: JSONValue) -> EventHistory? {
        guard let name = json["name"]?.string, let measure = measure(json) else { return nil }
        var lower: [EventHistory.Since] = []
        if let since = json["since"] {
            if let ago = span(since["duration"]), since["type"]?.string == "Time.Ago" {
                lower.append(.within(ago))
            } else if let instant = instant(since, upwards: true) {
                lower.append(.instant(.literal(.string(instant.description))))
            } else {
                return nil
            }
        }
        if let within = json["within"] {
            guard let span = span(within) else { return nil }
            lower.append(.within(span))
        }
        var until: Value?
        if let written = json["until"] {
            guard let instant = instant(written, upwards: false) else { return nil }
            until = .literal(.string(instant.description))
        }
        var match = EventMatch(names: [name])
        if let filter = json["where"] {
            let known = unknown.count
            match.condition = condition(filter)
            // A filter that is not understood must not make "never" true.
            if unknown.count > known { return nil }
        }
        let since = lower.dropFirst().reduce(lower.first ?? .ever) { .later($0, $1) }
        var history = EventHistory(match: match, since: since, until: until, measure: measure)
        switch measure {
        case .firstAt, .lastAt: history.range = NumberRange()
        case .count, .sum, .average, .minimum, .maximum, .distinct, .lastAge: break
        }
        return history
    }

    private func measure(_ json: JSONValue) -> EventHistory.Measure? {
        switch json["type"]?.string {
        case "Events.Count", "Events.Exists": return .count
        case "Events.FirstTime": return .firstAt
        case "Events.LastTime": return .lastAt
        case "Events.LastAge": return .lastAge
        case "Events.Aggregate":
            guard let name = json["prop"]?.string else { return nil }
            let pointer = JSONPointer(tokens: ["event", name])
            switch json["agg"]?.string {
            case "sum": return .sum(pointer)
            case "avg": return .average(pointer)
            case "min": return .minimum(pointer)
            case "max": return .maximum(pointer)
            case "unique": return .distinct(pointer)
            default: return nil
            }
        default: return nil
        }
    }
}
