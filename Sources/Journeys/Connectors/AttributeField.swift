internal import JSON
internal import TimeZones

/// What a provider tells about a customer, by the names that attributes have here.
struct AttributeMapping: Sendable, Hashable {
    /// Attributes that stand at a place of their own.
    let named: [AttributeField]
    /// A map from the provider's names to values, of which every member is an attribute.
    let every: AttributeMap?

    static let none = AttributeMapping(named: [], every: nil)
}

/// One attribute at a place of its own.
struct AttributeField: Sendable, Hashable {
    let field: PropertyField
    /// When it was set; nil for the event's own time.
    let setAt: [JSONPointer]
    let units: [TimeUnit]
}

/// A map of attributes, such as RevenueCat's `subscriber_attributes`.
struct AttributeMap: Sendable, Hashable {
    let at: JSONPointer
    /// Inside each member; the member itself when empty.
    let value: JSONPointer
    let setAt: JSONPointer?
    let units: [TimeUnit]
    /// The provider's names to ours.
    let names: [String: String]
    /// Members whose names begin so and stand in no table are the provider's own and left out.
    let skippedPrefixes: [String]
}

/// More attributes of one event than this are not read, but counted.
let mostAttributes = 50
/// Longer texts are no attribute.
private let longestAttribute = 4_096
/// Longer names are none.
private let longestName = 64

/// The attributes that one body tells.
struct ToldAttributes {
    /// Null where the provider says that an attribute is gone.
    private(set) var values = JSONObject()
    /// When each was set, for those that tell a time of their own.
    private(set) var times = JSONObject()
    private(set) var passedOver = 0

    init(_ mapping: AttributeMapping, body: JSONValue) {
        for attribute in mapping.named {
            guard case .value(let value) = attribute.field.read(from: body) else { continue }
            let setAt = attribute.setAt.firstPresent(in: body).flatMap(attribute.units.instant)
            put(attribute.field.name, value, setAt)
        }
        guard let map = mapping.every, let members = map.at.resolve(in: body)?.object else {
            return
        }
        for (key, member) in members {
            guard let name = map.name(of: key) else { continue }
            let value = map.value.resolve(in: member) ?? .null
            guard let scalar = Self.scalar(value) else {
                passedOver += 1
                continue
            }
            put(name, scalar, map.setAt?.resolve(in: member).flatMap(map.units.instant))
        }
    }

    private mutating func put(_ name: String, _ value: JSONValue, _ setAt: Instant?) {
        guard values[name] == nil else { return }
        guard values.count < mostAttributes else {
            passedOver += 1
            return
        }
        values[name] = Self.shaped(value, for: name)
        times[name] = setAt.map { .string($0.description) }
    }

    /// Lists where the attribute is a list here.
    private static func shaped(_ value: JSONValue, for name: String) -> JSONValue {
        guard name == "push_tokens" || name == "unsubscribed", let text = value.string else {
            return value
        }
        let items = text.split(separator: ",").map { $0.drop { $0 == " " } }
        return .array(items.map { .string(String($0)) })
    }

    /// Empty text is an attribute that was taken away; nil for what is too long or no scalar.
    private static func scalar(_ value: JSONValue) -> JSONValue? {
        if value.isAbsent { return .null }
        switch value {
        case .null, .bool: return value
        case .string(let text): return text.utf8.count <= longestAttribute ? value : nil
        case .number(let number): return number.literal.utf8.count <= 64 ? value : nil
        case .array, .object: return nil
        }
    }
}

extension AttributeMap {
    /// Our name of a member: the table's, else its own if it can be one.
    func name(of key: String) -> String? {
        if let name = names[key] { return name }
        let isOwn = skippedPrefixes.contains { key.utf8.starts(with: $0.utf8) }
        guard !isOwn, !key.isEmpty, key.utf8.count <= longestName else { return nil }
        return key
    }
}
