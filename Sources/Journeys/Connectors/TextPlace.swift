internal import JSON

/// A place that may hold a text or id: a pointer, or a form that several pointers fill.
struct TextPlace: Sendable, Hashable {
    enum Part: Sendable, Hashable {
        case literal(String)
        case pointer(JSONPointer)
    }

    /// The place counts only where these hold.
    let clauses: [Clause]
    let parts: [Part]

    /// The value there; nil when it is absent, or when one of several pointers finds no text or number.
    func value(in body: JSONValue) -> JSONValue? {
        guard clauses.hold(in: body) else { return nil }
        if parts.count == 1, case .pointer(let pointer) = parts[0] {
            guard let value = pointer.resolve(in: body), !value.isAbsent else { return nil }
            return value
        }
        var text = ""
        for part in parts {
            switch part {
            case .literal(let literal): text += literal
            case .pointer(let pointer):
                guard let found = pointer.resolve(in: body).flatMap(idText) else { return nil }
                text += found
            }
        }
        if text.isEmpty { return nil }
        return .string(text)
    }

    /// The parts of a form such as `order.{/status}`; nil when a brace is left open or holds no pointer.
    static func parts(of format: String) -> [Part]? {
        var parts: [Part] = []
        var rest = format[...]
        while let open = rest.firstIndex(of: "{") {
            if open > rest.startIndex { parts.append(.literal(String(rest[..<open]))) }
            rest = rest[rest.index(after: open)...]
            guard let close = rest.firstIndex(of: "}"),
                let pointer = JSONPointer(String(rest[..<close])), !pointer.tokens.isEmpty
            else { return nil }
            parts.append(.pointer(pointer))
            rest = rest[rest.index(after: close)...]
        }
        if rest.contains("}") { return nil }
        if !rest.isEmpty { parts.append(.literal(String(rest))) }
        return parts.isEmpty ? nil : parts
    }
}

extension [TextPlace] {
    /// The first value that is there.
    func firstPresent(in body: JSONValue) -> JSONValue? {
        for place in self {
            if let value = place.value(in: body) { return value }
        }
        return nil
    }
}
