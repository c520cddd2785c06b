/// An RFC 6901 pointer.
///
/// Two pointers are equal when their tokens are the same bytes.
package struct JSONPointer: Sendable, CustomStringConvertible {
    /// Reference tokens, unescaped; none for the whole document.
    package var tokens: [String]

    /// A pointer of unescaped tokens.
    package init(tokens: [String] = []) { self.tokens = tokens }

    /// Parses the string form; nil unless empty or starting with `/`, or with a stray `~`.
    package init?(_ text: String) {
        if text.isEmpty {
            tokens = []
            return
        }
        guard text.utf8.first == UInt8(ascii: "/") else { return nil }
        var tokens: [String] = []
        // By bytes: a combining mark after a slash makes one character with it.
        let parts = text.utf8.dropFirst().split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for part in parts {
            guard let token = Self.unescape(part) else { return nil }
            tokens.append(token)
        }
        self.tokens = tokens
    }

    /// The string form, with `~0` and `~1`.
    package var description: String {
        tokens.map { "/" + Self.escape($0) }.joined()
    }

    /// The pointer to the member `token` of what this one names.
    package func appending(_ token: String) -> JSONPointer { JSONPointer(tokens: tokens + [token]) }
    /// The pointer to the item at `index` of what this one names.
    package func appending(_ index: Int) -> JSONPointer { appending(String(index)) }

    /// The value the pointer names in `document`, or nil when it names none.
    package func resolve(in document: JSONValue) -> JSONValue? {
        var value = document
        for token in tokens {
            switch value {
            case .object(let object):
                guard let next = object[token] else { return nil }
                value = next
            case .array(let items):
                guard let index = Self.index(token), index < items.count else { return nil }
                value = items[index]
            case .null, .bool, .number, .string: return nil
            }
        }
        return value
    }

    /// An array index: digits without leading zero.
    private static func index(_ token: String) -> Int? {
        guard token.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }) else { return nil }
        if token.utf8.first == 48, token.utf8.count > 1 { return nil }
        return Int(token)
    }

    private static func unescape(_ part: Substring.UTF8View) -> String? {
        var out: [UInt8] = []
        var bytes = part.makeIterator()
        while let byte = bytes.next() {
            guard byte == UInt8(ascii: "~") else {
                out.append(byte)
                continue
            }
            switch bytes.next() {
            case UInt8(ascii: "0"): out.append(UInt8(ascii: "~"))
            case UInt8(ascii: "1"): out.append(UInt8(ascii: "/"))
            default: return nil
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    private static func escape(_ token: String) -> String {
        var out: [UInt8] = []
        for byte in token.utf8 {
            switch byte {
            case UInt8(ascii: "~"): out += "~0".utf8
            case UInt8(ascii: "/"): out += "~1".utf8
            default: out.append(byte)
            }
        }
        return String(decoding: out, as: UTF8.self)
    }
}

extension JSONPointer: Hashable {
    /// Compares bytes; `==` of strings would take é for e + U+0301.
    package static func == (left: JSONPointer, right: JSONPointer) -> Bool {
        left.tokens.elementsEqual(right.tokens) { $0.hasSameBytes(as: $1) }
    }

    /// Hashes the same bytes.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(tokens.count)
        for token in tokens { token.hashBytes(into: &hasher) }
    }
}
