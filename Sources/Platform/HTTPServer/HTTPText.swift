/// The character classes of RFC 9110 and 9112, on bytes.
enum HTTPText {
    static let tab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
    static let space: UInt8 = 0x20
    static let colon: UInt8 = 0x3A
    static let semicolon: UInt8 = 0x3B

    /// What methods and field names are made of.
    static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23, 0x24, 0x25, 0x26, 0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C,
            0x7E:
            true
        default: false
        }
    }

    /// What field values and chunk extensions are made of: no control characters but the tab.
    static func isFieldContent(_ byte: UInt8) -> Bool {
        byte >= space ? byte != 0x7F : byte == tab
    }

    /// What a request target is made of: visible ASCII, and no fragment.
    static func isTarget(_ byte: UInt8) -> Bool {
        byte > space && byte < 0x7F && byte != UInt8(ascii: "#")
    }

    /// What `Host` is made of: a name or address, perhaps with a port; never user, path or list.
    static func isAuthority(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"),
            UInt8(ascii: "%"), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"):
            true
        default: false
        }
    }

    static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

    static func hexValue(_ byte: UInt8) -> Int? {
        switch byte {
        case 0x30...0x39: Int(byte) - 0x30
        case 0x61...0x66: Int(byte) - 0x57
        case 0x41...0x46: Int(byte) - 0x37
        default: nil
        }
    }

    static func lowercased(_ byte: UInt8) -> UInt8 {
        byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
    }

    static func equalsIgnoringCase(
        _ one: some Collection<UInt8>, _ other: some Collection<UInt8>
    ) -> Bool {
        guard one.count == other.count else { return false }
        for (left, right) in zip(one, other) where lowercased(left) != lowercased(right) {
            return false
        }
        return true
    }

    /// The parts of a comma-separated list without the white space around them; empty ones left out.
    static func list(_ value: String) -> [String] {
        value.utf8.split(separator: UInt8(ascii: ",")).compactMap { part in
            let text = trimmed(part)
            return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
        }
    }

    static func trimmed<Bytes: BidirectionalCollection>(
        _ bytes: Bytes
    ) -> Bytes.SubSequence where Bytes.Element == UInt8 {
        var part = bytes[...]
        while let first = part.first, first == space || first == tab { part = part.dropFirst() }
        while let last = part.last, last == space || last == tab { part = part.dropLast() }
        return part
    }
}
