/// A JSON number as its text, so that no digit is lost to a `Double`.
package struct JSONNumber: Sendable, Hashable {
    /// The literal, in RFC 8259's grammar.
    package let literal: String

    /// A whole number.
    package init(_ value: Int64) { literal = String(value) }

    /// Reads a literal in RFC 8259's number grammar; nil for any other text.
    package init?(literal: String) {
        guard case .number(let parsed)? = try? JSONParser.parse(literal),
            parsed.literal.utf8.count == literal.utf8.count
        else { return nil }
        self = parsed
    }

    /// For the parser, which has checked the grammar.
    init(checked literal: String) { self.literal = literal }

    /// The exact value where the literal is a whole number within 64 bits (`1e2` and `1.0` too).
    package var int64: Int64? {
        if let plain = Int64(literal) { return plain }
        let parts = DecimalParts(literal)
        guard parts.exponent >= 0 else { return parts.digits.isEmpty ? 0 : nil }
        guard parts.digits.count + parts.exponent <= 19 else { return nil }
        var value: Int64 = 0
        for digit in parts.digits + [UInt8](repeating: 0, count: parts.exponent) {
            let (tens, carried) = value.multipliedReportingOverflow(by: 10)
            let (sum, overflowed) = tens.subtractingReportingOverflow(Int64(digit))
            if carried || overflowed { return nil }
            value = sum
        }
        if parts.isNegative { return value }
        return value == .min ? nil : -value
    }

    /// The nearest double; infinite for literals past its range.
    package var double: Double { Double(literal) ?? .nan }

    /// Orders two numbers by their exact decimal values: -1, 0 or 1.
    package static func compare(_ left: JSONNumber, _ right: JSONNumber) -> Int {
        if let a = Int64(left.literal), let b = Int64(right.literal) {
            return a < b ? -1 : (a == b ? 0 : 1)
        }
        return DecimalParts.compare(DecimalParts(left.literal), DecimalParts(right.literal))
    }

    /// The value in plain decimal digits without exponent (`7.99`, `-0.5`), trailing zeros of the
    /// literal kept when it has no exponent, zero without a sign; nil past 400 digits.
    package var plainDecimal: String? {
        let parts = DecimalParts(literal)
        if literal.utf8.contains(where: { $0 == 0x65 || $0 == 0x45 }) { return parts.plain }
        guard literal.utf8.count <= 402 else { return nil }
        let hasEmptySign = parts.digits.isEmpty && literal.utf8.first == 0x2d
        return hasEmptySign ? String(literal.dropFirst()) : literal
    }
}

/// A decimal number taken apart: ± 0.d₁d₂… without leading or trailing zeros, times a power of ten.
struct DecimalParts {
    var isNegative: Bool
    /// Significant digits 0…9, none for zero.
    var digits: [UInt8]
    /// The power of ten of the last digit; clamped to ±10⁹, past which no literal here differs.
    var exponent: Int

    init(_ literal: String) {
        var bytes = Array(literal.utf8)[...]
        isNegative = bytes.first == 0x2d
        if isNegative { bytes = bytes.dropFirst() }
        digits = []
        var power = 0
        var afterPoint = false
        while let byte = bytes.first, byte != 0x65, byte != 0x45 {
            bytes = bytes.dropFirst()
            if byte == 0x2e {
                afterPoint = true
                continue
            }
            digits.append(byte - 48)
            if afterPoint { power -= 1 }
        }
        if !bytes.isEmpty {
            let text = String(decoding: bytes.dropFirst(), as: UTF8.self)
            let limit = 1_000_000_000
            power += min(limit, max(-limit, Int(text) ?? (text.hasPrefix("-") ? -limit : limit)))
        }
        while digits.last == 0 {
            digits.removeLast()
            power += 1
        }
        let zeros = digits.prefix { $0 == 0 }.count
        digits.removeFirst(zeros)
        if digits.isEmpty {
            isNegative = false
            power = 0
        }
        exponent = power
    }

    static func compare(_ left: DecimalParts, _ right: DecimalParts) -> Int {
        if left.isNegative != right.isNegative { return left.isNegative ? -1 : 1 }
        let sign = left.isNegative ? -1 : 1
        if left.digits.isEmpty || right.digits.isEmpty {
            if left.digits.isEmpty && right.digits.isEmpty { return 0 }
            return left.digits.isEmpty ? -sign : sign
        }
        let leftTop = left.digits.count + left.exponent
        let rightTop = right.digits.count + right.exponent
        if leftTop != rightTop { return leftTop < rightTop ? -sign : sign }
        for index in 0..<max(left.digits.count, right.digits.count) {
            let a = index < left.digits.count ? left.digits[index] : 0
            let b = index < right.digits.count ? right.digits[index] : 0
            if a != b { return a < b ? -sign : sign }
        }
        return 0
    }

    /// Plain digits, nil when that would take more than 400.
    var plain: String? {
        guard abs(exponent) + digits.count <= 400 else { return nil }
        var text = digits.map { String($0) }.joined()
        if text.isEmpty { return "0" }
        if exponent >= 0 {
            text += String(repeating: "0", count: exponent)
        } else if text.count > -exponent {
            text.insert(".", at: text.index(text.endIndex, offsetBy: exponent))
        } else {
            text = "0." + String(repeating: "0", count: -exponent - text.count) + text
        }
        return isNegative ? "-" + text : text
    }
}
