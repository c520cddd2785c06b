// Strings: the common run without escapes is validated and copied once.
extension JSONParser {
    mutating func parseString() throws(JSONError) -> String {
        position &+= 1
        let start = position
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") {
                let span = UnsafeBufferPointer(rebasing: bytes[start..<position])
                guard let text = String(validating: span, as: UTF8.self) else {
                    throw JSONError(kind: .invalidUTF8, offset: start)
                }
                position &+= 1
                return options.marksReplaced ? marked(text, span) : text
            }
            if byte == UInt8(ascii: "\\") { return try parseEscapedString(from: start) }
            if byte < 0x20 { throw error(.syntax) }
            position &+= 1
        }
        throw error(.unexpectedEnd)
    }

    private mutating func parseEscapedString(from start: Int) throws(JSONError) -> String {
        var out = Array(bytes[start..<position])
        // Where U+FFFD was put and marked already: there the text's own is not meant.
        var marks: [Int] = []
        while position < bytes.count {
            let byte = bytes[position]
            position &+= 1
            if byte == UInt8(ascii: "\"") {
                guard let text = String(validating: out, as: UTF8.self) else {
                    throw JSONError(kind: .invalidUTF8, offset: start)
                }
                return options.marksReplaced
                    ? out.withUnsafeBufferPointer { marked(text, $0, except: marks) } : text
            }
            if byte < 0x20 {
                position &-= 1
                throw error(.syntax)
            }
            guard byte == UInt8(ascii: "\\") else {
                out.append(byte)
                continue
            }
            guard position < bytes.count else { throw error(.unexpectedEnd) }
            let escape = bytes[position]
            position &+= 1
            switch escape {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): out.append(escape)
            case UInt8(ascii: "b"): out.append(0x08)
            case UInt8(ascii: "f"): out.append(0x0c)
            case UInt8(ascii: "n"): out.append(0x0a)
            case UInt8(ascii: "r"): out.append(0x0d)
            case UInt8(ascii: "t"): out.append(0x09)
            case UInt8(ascii: "u"):
                let before = replacements
                let first = position
                let scalar = try parseUnicodeEscape()
                if options.marksReplaced, replacements > before {
                    marks.append(out.count)
                    let digits = bytes[first..<min(first + 4, bytes.count)].map { $0 | 0x20 }
                    out += Self.replacementBytes + digits
                } else {
                    out += String(scalar).utf8
                }
            default:
                position &-= 1
                throw error(.syntax)
            }
        }
        throw error(.unexpectedEnd)
    }

    private mutating func parseUnicodeEscape() throws(JSONError) -> Unicode.Scalar {
        let replacement: Unicode.Scalar = "\u{FFFD}"
        let first = try parseFourHexDigits()
        if first == 0 {
            guard options.replacesUnstorable else { throw error(.nulCharacter) }
            replacements += 1
            return replacement
        }
        if let scalar = Unicode.Scalar(first) { return scalar }
        let isHigh = first < 0xdc00
        if isHigh, bytes.count - position >= 2, bytes[position] == UInt8(ascii: "\\"),
            bytes[position + 1] == UInt8(ascii: "u")
        {
            let back = position
            position &+= 2
            let second = try parseFourHexDigits()
            if second >= 0xdc00, second < 0xe000 {
                let value = 0x10000 + (first - 0xd800) << 10 + (second - 0xdc00)
                return Unicode.Scalar(value) ?? replacement
            }
            position = back
        }
        guard options.replacesUnstorable else { throw error(.loneSurrogate) }
        replacements += 1
        return replacement
    }

    private static let replacementBytes: [UInt8] = [0xef, 0xbf, 0xbd]

    /// The text with `fffd` after each U+FFFD of its own that four hexadecimal digits follow.
    private func marked(
        _ text: String, _ bytes: UnsafeBufferPointer<UInt8>, except marks: [Int] = []
    ) -> String {
        guard bytes.count >= 7, bytes.contains(0xef) else { return text }
        var out: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            out.append(byte)
            guard byte == 0xbd, index >= 2, index + 4 < bytes.count, bytes[index - 1] == 0xbf,
                bytes[index - 2] == 0xef, !marks.contains(index - 2),
                bytes[(index + 1)...(index + 4)].allSatisfy({
                    (48...57).contains($0) || (97...102).contains($0)
                })
            else { continue }
            out += Array("fffd".utf8)
        }
        return String(decoding: out, as: UTF8.self)
    }

    private mutating func parseFourHexDigits() throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard position < bytes.count else { throw error(.unexpectedEnd) }
            let byte = bytes[position]
            let digit: UInt32
            switch byte {
            case 48...57: digit = UInt32(byte) - 48
            case 97...102: digit = UInt32(byte) - 87
            case 65...70: digit = UInt32(byte) - 55
            default: throw error(.syntax)
            }
            value = value << 4 | digit
            position &+= 1
        }
        return value
    }
}
