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
                return text
            }
            if byte == UInt8(ascii: "\\") { return try parseEscapedString(from: start) }
            if byte < 0x20 { throw error(.syntax) }
            position &+= 1
        }
        throw error(.unexpectedEnd)
    }

    private mutating func parseEscapedString(from start: Int) throws(JSONError) -> String {
        var out = Array(bytes[start..<position])
        while position < bytes.count {
            let byte = bytes[position]
            position &+= 1
            if byte == UInt8(ascii: "\"") {
                guard let text = String(validating: out, as: UTF8.self) else {
                    throw JSONError(kind: .invalidUTF8, offset: start)
                }
                return text
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
            case UInt8(ascii: "u"): out += String(try parseUnicodeEscape()).utf8
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
