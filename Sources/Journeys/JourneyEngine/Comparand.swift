internal import JSON
internal import TimeZones

/// How two JSON values compare: within one type only, without coercion.
enum Comparand {
    /// Equality; *unknown* between types, between moneys of two currencies, and between an instant
    /// and other text. `null` is decided: it equals only itself.
    static func equal(_ left: JSONValue, _ right: JSONValue) -> Truth {
        switch (left, right) {
        case (.null, .null): return .true
        case (.null, _), (_, .null): return .false
        case (.bool(let a), .bool(let b)): return Truth(a == b)
        case (.array(let a), .array(let b)): return equal(a, b)
        case (.object(let a), .object(let b)):
            if Money(left) != nil, Money(right) != nil { return ordered(left, right) }
            return equal(a, b)
        case (.number, .number), (.string, .string): return ordered(left, right)
        case (.bool, _), (.number, _), (.string, _), (.array, _), (.object, _): return .unknown
        }
    }

    private static func ordered(_ left: JSONValue, _ right: JSONValue) -> Truth {
        order(left, right).map { Truth($0 == 0) } ?? .unknown
    }

    private static func equal(_ left: [JSONValue], _ right: [JSONValue]) -> Truth {
        guard left.count == right.count else { return .false }
        return all(zip(left, right).map { equal($0, $1) })
    }

    private static func equal(_ left: JSONObject, _ right: JSONObject) -> Truth {
        guard left.count == right.count else { return .false }
        var truths: [Truth] = []
        for (key, value) in left {
            guard let other = right[key] else { return .false }
            truths.append(equal(value, other))
        }
        return all(truths)
    }

    private static func all(_ truths: [Truth]) -> Truth {
        if truths.contains(.false) { return .false }
        return truths.contains(.unknown) ? .unknown : .true
    }

    /// -1, 0 or 1 for numbers, instants, other strings (by UTF-16 units) and moneys of one currency;
    /// nil for everything else.
    static func order(_ left: JSONValue, _ right: JSONValue) -> Int? {
        switch (left, right) {
        case (.number(let a), .number(let b)): return JSONNumber.compare(a, b)
        case (.string(let a), .string(let b)):
            switch (Instant(a), Instant(b)) {
            case (let x?, let y?): return x < y ? -1 : (x == y ? 0 : 1)
            case (nil, nil):
                if a.hasSameBytes(as: b) { return 0 }
                return a.utf16.lexicographicallyPrecedes(b.utf16) ? -1 : 1
            case (.some, nil), (nil, .some): return nil
            }
        case (.object, .object):
            guard let a = Money(left), let b = Money(right), a.currency == b.currency else {
                return nil
            }
            return JSONNumber.compare(a.amount, b.amount)
        case (.null, _), (.bool, _), (.number, _), (.string, _), (.array, _), (.object, _):
            return nil
        }
    }

    /// `{"amount": "9.99", "currency": "USD"}`.
    private struct Money {
        let amount: JSONNumber
        let currency: String

        init?(_ json: JSONValue) {
            guard let object = json.object, object.count == 2,
                let text = object["amount"]?.string, let amount = JSONNumber(literal: text),
                let currency = object["currency"]?.string
            else { return nil }
            self.amount = amount
            self.currency = currency
        }
    }
}
