internal import JSON

extension JSONValue {
    /// The value with every number that PostgreSQL's `jsonb` refuses, or would blow up to thousands of
    /// digits, kept as its text.
    ///
    /// - Parameter changes: counts them.
    func storable(changes: inout Int) -> JSONValue {
        switch self {
        case .null, .bool, .string: return self
        case .number(let number):
            if number.isStorable { return self }
            changes += 1
            return .string(number.literal)
        case .array(let items): return .array(items.map { $0.storable(changes: &changes) })
        case .object(let object):
            return .object(
                JSONObject(
                    object.members.map { ($0.key, $0.value.storable(changes: &changes)) }))
        }
    }
}

extension JSONNumber {
    /// Up to 1000 characters and a power of ten within ±1000.
    fileprivate var isStorable: Bool {
        let text = literal.utf8
        guard text.count <= 1_000 else { return false }
        guard let mark = text.firstIndex(where: { $0 | 0x20 == UInt8(ascii: "e") }) else {
            return true
        }
        let exponent = literal[literal.index(after: mark)...]
        guard let power = Int(exponent) else { return false }
        return (-1_000...1_000).contains(power)
    }
}
