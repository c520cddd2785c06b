internal import JSON

/// Values that an app records with a use, as JSON.
enum Metadata {
    /// Bytes of the whole object, as the server takes them.
    static let largest = 16_384

    /// - Throws: an invalid argument that names the member.
    static func json(_ values: [String: any Sendable]?) throws(NuxieError) -> JSONObject? {
        guard let values else { return nil }
        let json = try object(values, at: "metadata", depth: 0)
        guard JSONValue.object(json).bytes.count <= largest else {
            throw .invalid("metadata has more than \(largest) bytes as JSON; record less.")
        }
        return json
    }

    private static func object(
        _ values: [String: any Sendable], at place: String, depth: Int
    ) throws(NuxieError) -> JSONObject {
        var json = JSONObject()
        for (name, item) in values.sorted(by: { $0.key < $1.key }) {
            json[name] = try value(item, at: "\(place).\(name)", depth: depth + 1)
        }
        return json
    }

    private static func value(
        _ value: any Sendable, at place: String, depth: Int
    ) throws(NuxieError) -> JSONValue {
        guard depth <= 16 else { throw .invalid("\(place) lies too deep; use fewer levels.") }
        switch value {
        case let text as String: return .string(text)
        case let flag as Bool: return .bool(flag)
        case let number as any BinaryInteger:
            guard let whole = Int64(exactly: number) else { break }
            return .integer(whole)
        case let number as Double: return try self.number(number, at: place)
        case let number as Float: return try self.number(Double(number), at: place)
        case let items as [any Sendable]:
            var list: [JSONValue] = []
            for item in items {
                list.append(try self.value(item, at: place + "[]", depth: depth + 1))
            }
            return .array(list)
        case let members as [String: any Sendable]:
            return .object(try object(members, at: place, depth: depth))
        case let maybe as (any Sendable)? where maybe == nil: return .null
        default: break
        }
        throw .invalid(
            "\(place) is a \(type(of: value)), which JSON cannot say; use texts, numbers, flags, lists "
                + "and dictionaries.")
    }

    private static func number(_ number: Double, at place: String) throws(NuxieError) -> JSONValue {
        guard number.isFinite, let literal = JSONNumber(literal: "\(number)") else {
            throw .invalid("\(place) is no finite number.")
        }
        return .number(literal)
    }
}
