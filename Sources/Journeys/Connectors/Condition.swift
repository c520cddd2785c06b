internal import JSON

/// What a mapping rule asks of one place in the body.
enum Condition: Sendable, Hashable {
    /// Any one of these scalars; numbers by value.
    case oneOf([JSONValue])
    /// Present and neither null nor empty text, or the opposite.
    case exists(Bool)
    /// Anything else than these scalars, absence too.
    case noneOf([JSONValue])
    /// A number below this one.
    case below(JSONNumber)
    /// A number above this one.
    case above(JSONNumber)

    func holds(for value: JSONValue?) -> Bool {
        switch self {
        case .oneOf(let candidates):
            guard let value else { return false }
            return candidates.contains { Self.isSame($0, value) }
        case .noneOf(let candidates):
            guard let value else { return true }
            return !candidates.contains { Self.isSame($0, value) }
        case .exists(let wanted): return (value?.isAbsent == false) == wanted
        case .below(let bound):
            guard let number = value?.number else { return false }
            return JSONNumber.compare(number, bound) < 0
        case .above(let bound):
            guard let number = value?.number else { return false }
            return JSONNumber.compare(number, bound) > 0
        }
    }

    private static func isSame(_ left: JSONValue, _ right: JSONValue) -> Bool {
        if let a = left.number, let b = right.number { return JSONNumber.compare(a, b) == 0 }
        return left == right
    }
}

/// One line of a `when`.
struct Clause: Sendable, Hashable {
    let pointer: JSONPointer
    let condition: Condition
}

extension [Clause] {
    /// Whether every clause holds; true without any.
    func hold(in body: JSONValue) -> Bool {
        allSatisfy { $0.condition.holds(for: $0.pointer.resolve(in: body)) }
    }
}

extension JSONValue {
    /// Null and text without a visible character stand for "not there": providers send both.
    var isAbsent: Bool {
        switch self {
        case .null: true
        case .string(let text): text.utf8.allSatisfy { $0 == 0x20 || $0 == 0x09 }
        case .bool, .number, .array, .object: false
        }
    }
}

extension [JSONPointer] {
    /// The first value that is there.
    func firstPresent(in body: JSONValue) -> JSONValue? {
        for pointer in self {
            if let value = pointer.resolve(in: body), !value.isAbsent { return value }
        }
        return nil
    }
}
