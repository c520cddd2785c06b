extension JSONValue {
    /// The compact text, members in their order.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The compact text as UTF-8.
    package var bytes: [UInt8] {
        var out: [UInt8] = []
        JSONWriter(canonical: false).write(self, into: &out)
        return out
    }

    /// RFC 8785's canonical form: members ordered by UTF-16 units, numbers in ECMAScript's form.
    ///
    /// One widening: a whole number that no double holds, and a number of more than 17 digits or past
    /// a double's range, keep their exact decimal digits, so that two different amounts do not share a
    /// form (and a digest). Fractions of up to 17 digits are rounded to a double, as RFC 8785 says.
    package var canonicalBytes: [UInt8] {
        var out: [UInt8] = []
        JSONWriter(canonical: true).write(self, into: &out)
        return out
    }

    /// Text for people: two spaces a level, empty containers on one line.
    package var pretty: String {
        var out: [UInt8] = []
        JSONWriter(canonical: false).writePretty(self, indent: 0, into: &out)
        return String(decoding: out, as: UTF8.self)
    }
}

struct JSONWriter {
    let canonical: Bool

    func write(_ value: JSONValue, into out: inout [UInt8]) {
        switch value {
        case .null: out += "null".utf8
        case .bool(let flag): out += (flag ? "true" : "false").utf8
        case .number(let number): out += (canonical ? number.canonical : number.literal).utf8
        case .string(let text): writeString(text, into: &out)
        case .array(let items):
            out.append(UInt8(ascii: "["))
            for (index, item) in items.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                write(item, into: &out)
            }
            out.append(UInt8(ascii: "]"))
        case .object(let object):
            out.append(UInt8(ascii: "{"))
            for (index, member) in ordered(object).enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                writeString(member.key, into: &out)
                out.append(UInt8(ascii: ":"))
                write(member.value, into: &out)
            }
            out.append(UInt8(ascii: "}"))
        }
    }

    func writePretty(_ value: JSONValue, indent: Int, into out: inout [UInt8]) {
        let inner = [UInt8](repeating: UInt8(ascii: " "), count: (indent + 1) * 2)
        let outer = [UInt8](repeating: UInt8(ascii: " "), count: indent * 2)
        switch value {
        case .array(let items) where !items.isEmpty:
            out += "[\n".utf8
            for (index, item) in items.enumerated() {
                if index > 0 { out += ",\n".utf8 }
                out += inner
                writePretty(item, indent: indent + 1, into: &out)
            }
            out += "\n".utf8 + outer + "]".utf8
        case .object(let object) where !object.isEmpty:
            out += "{\n".utf8
            for (index, member) in object.members.enumerated() {
                if index > 0 { out += ",\n".utf8 }
                out += inner
                writeString(member.key, into: &out)
                out += ": ".utf8
                writePretty(member.value, indent: indent + 1, into: &out)
            }
            out += "\n".utf8 + outer + "}".utf8
        case .null, .bool, .number, .string, .array, .object: write(value, into: &out)
        }
    }

    private func ordered(_ object: JSONObject) -> [(key: String, value: JSONValue)] {
        guard canonical else { return object.members }
        return object.members.sorted { $0.key.utf16.lexicographicallyPrecedes($1.key.utf16) }
    }

    private func writeString(_ text: String, into out: inout [UInt8]) {
        out.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case 0x22: out += "\\\"".utf8
            case 0x5c: out += "\\\\".utf8
            case 0x08: out += "\\b".utf8
            case 0x09: out += "\\t".utf8
            case 0x0a: out += "\\n".utf8
            case 0x0c: out += "\\f".utf8
            case 0x0d: out += "\\r".utf8
            case 0..<0x20:
                let hex = Array("0123456789abcdef".utf8)
                out += "\\u00".utf8
                out.append(hex[Int(byte >> 4)])
                out.append(hex[Int(byte & 15)])
            default: out.append(byte)
            }
        }
        out.append(UInt8(ascii: "\""))
    }
}

extension JSONNumber {
    /// ECMAScript's shortest form of the nearest double, else the exact digits.
    var canonical: String {
        let parts = DecimalParts(literal)
        if let value = Double(literal), value.isFinite {
            let shortest = DecimalParts(value.description)
            let isFraction = parts.exponent < 0 && parts.digits.count <= 17
            if DecimalParts.compare(parts, shortest) == 0 || (isFraction && value != 0) {
                return Self.ecmaScript(shortest)
            }
        }
        return Self.ecmaScript(parts)
    }

    /// Number::toString of ECMA-262, over digits already shortest.
    private static func ecmaScript(_ parts: DecimalParts) -> String {
        if parts.digits.isEmpty { return "0" }
        let count = parts.digits.count
        let point = count + parts.exponent
        if point > -6, point <= 21, let plain = parts.plain { return plain }
        var text = parts.digits.map { String($0) }.joined()
        if count > 1 { text.insert(".", at: text.index(after: text.startIndex)) }
        let power = point - 1
        return (parts.isNegative ? "-" : "") + text + "e" + (power < 0 ? "-" : "+")
            + String(abs(power))
    }
}
