/// Base64 (RFC 4648) with a decoder that reads exactly one spelling of every value, unless asked.
package enum Base64 {
    /// The two alphabets of RFC 4648; a text in one is never read in the other.
    package enum Alphabet: Sendable, Hashable {
        /// With `+` and `/` (section 4), padded.
        case standard
        /// With `-` and `_` (section 5), unpadded, as JOSE writes it.
        case urlSafe
    }

    /// What a text's end must look like.
    package enum Padding: Sendable, Hashable {
        /// Filled with `=` to a multiple of four.
        case required
        /// No `=` at all.
        case absent
        /// Filled completely or not at all; two spellings of one value are then read.
        case optional
    }

    /// The text, without line breaks.
    ///
    /// - Parameter isPadded: by default what the alphabet says.
    package static func encode(
        _ bytes: [UInt8], alphabet: Alphabet = .standard, isPadded: Bool? = nil
    ) -> String {
        let symbols = alphabet.symbols
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits: UInt32 = 0
            for byte in group { bits = bits << 8 | UInt32(byte) }
            bits <<= 8 * UInt32(3 - group.count)
            for position in 0...group.count {
                text.append(symbols[Int(bits >> UInt32(18 - 6 * position) & 63)])
            }
        }
        if isPadded ?? (alphabet.usualPadding == .required) {
            while !text.count.isMultiple(of: 4) { text.append(fill) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes; nil for anything but a canonical encoding.
    ///
    /// Refused are symbols outside the alphabet (white space and line breaks among them), padding that does
    /// not fit `padding`, a lone last symbol, and stray bits after the last byte.
    ///
    /// - Parameter padding: by default what the alphabet says: required in the standard one, absent in
    ///   the url-safe one.
    package static func decode(
        _ text: String, alphabet: Alphabet = .standard, padding: Padding? = nil
    ) -> [UInt8]? {
        decode([UInt8](text.utf8), alphabet: alphabet, padding: padding)
    }

    /// As ``decode(_:alphabet:padding:)-(String,_,_)``, from the text's UTF-8 bytes.
    package static func decode(
        _ text: [UInt8], alphabet: Alphabet = .standard, padding: Padding? = nil
    ) -> [UInt8]? {
        guard let symbols = unpadded(text, padding ?? alphabet.usualPadding),
            symbols.count % 4 != 1
        else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(symbols.count * 3 / 4)
        var bits: UInt32 = 0
        var bitCount: UInt32 = 0
        for symbol in symbols {
            guard let value = alphabet.value(of: symbol) else { return nil }
            bits = bits << 6 | UInt32(value)
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(bits >> bitCount))
                bits &= (1 << bitCount) - 1
            }
        }
        return bits == 0 ? bytes : nil
    }

    private static let fill = UInt8(ascii: "=")

    /// The text without its padding; nil when the padding is wrong.
    private static func unpadded(_ text: [UInt8], _ padding: Padding) -> ArraySlice<UInt8>? {
        let fills = text.suffix(2).reversed().prefix { $0 == fill }.count
        let isWhole = text.count.isMultiple(of: 4)
        switch padding {
        case .required: guard isWhole else { return nil }
        case .absent: guard fills == 0 else { return nil }
        case .optional: guard fills == 0 || isWhole else { return nil }
        }
        return text.dropLast(fills)
    }
}

extension Base64.Alphabet {
    fileprivate static let common =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    fileprivate static let standardSymbols = Array((common + "+/").utf8)
    fileprivate static let urlSafeSymbols = Array((common + "-_").utf8)

    fileprivate var symbols: [UInt8] {
        switch self {
        case .standard: Self.standardSymbols
        case .urlSafe: Self.urlSafeSymbols
        }
    }

    fileprivate var usualPadding: Base64.Padding {
        switch self {
        case .standard: .required
        case .urlSafe: .absent
        }
    }

    fileprivate func value(of symbol: UInt8) -> UInt8? {
        switch symbol {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): symbol - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): symbol - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): symbol - UInt8(ascii: "0") + 52
        case symbols[62]: 62
        case symbols[63]: 63
        case _: nil
        }
    }
}
