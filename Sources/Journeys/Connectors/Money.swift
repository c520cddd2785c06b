internal import JSON

/// How a provider writes amounts.
enum AmountUnit: String, Sendable, Hashable, CaseIterable {
    /// In the currency itself: `7.99`.
    case decimal
    /// In the currency's smallest unit: 799 cents, 799 yen.
    case minor
    /// In thousandths of the currency, as Apple writes prices.
    case thousandths
    /// In millionths of the currency, as Google writes prices.
    case millionths
}

/// Where an amount of money stands.
struct MoneyField: Sendable, Hashable {
    enum Currency: Sendable, Hashable {
        case named([JSONPointer])
        case always(String)
    }

    /// In order of preference.
    let amounts: [JSONPointer]
    let unit: AmountUnit
    let currency: Currency
    /// The provider's own exponents where they differ from ISO 4217's.
    let exponents: [String: Int]

    /// `{"amount", "currency"}`, the amount as decimal text in its shortest spelling.
    func read(from body: JSONValue) -> PropertyValue {
        guard let value = amounts.firstPresent(in: body) else { return .absent }
        guard let number = value.number ?? value.string.flatMap({ JSONNumber(literal: $0) }),
            let plain = number.plainDecimal, plain.utf8.count <= longestText
        else { return .refused("no decimal amount") }
        guard let code = code(in: body) else { return .refused("an amount without a currency") }
        let places: Int
        switch unit {
        case .decimal: places = 0
        case .thousandths: places = 3
        case .millionths: places = 6
        case .minor:
            guard let known = exponents[code] ?? CurrencyExponents.exponent(of: code) else {
                return .refused("in the smallest unit of \(code), which is no currency")
            }
            places = known
        }
        let amount = Self.shortest(Self.shifted(plain, by: places))
        return .value(["amount": .string(amount), "currency": .string(code)])
    }

    private func code(in body: JSONValue) -> String? {
        switch currency {
        case .always(let fixed): fixed
        case .named(let pointers):
            pointers.firstPresent(in: body).flatMap(idText)?.raisedASCII
        }
    }

    /// A plain decimal with its point moved to the left.
    static func shifted(_ plain: String, by places: Int) -> String {
        guard places > 0 else { return plain }
        let isNegative = plain.utf8.first == UInt8(ascii: "-")
        let parts = plain.drop { $0 == "-" }.split(
            separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        var whole = String(parts.first ?? "0")
        if whole.utf8.count <= places {
            whole = String(repeating: "0", count: places + 1 - whole.utf8.count) + whole
        }
        let fraction = parts.count == 2 ? String(parts[1]) : ""
        return (isNegative ? "-" : "") + whole.dropLast(places) + "." + whole.suffix(places)
            + fraction
    }

    /// The same amount without zeros that say nothing: `5.00` is `5`, so that two spellings of one price
    /// are not two prices.
    static func shortest(_ plain: String) -> String {
        var digits = Substring(plain)
        if plain.utf8.contains(UInt8(ascii: ".")) {
            while digits.utf8.last == UInt8(ascii: "0") { digits.removeLast() }
            if digits.utf8.last == UInt8(ascii: ".") { digits.removeLast() }
        }
        return digits == "-0" ? "0" : String(digits)
    }
}

/// The number of decimal places of currencies, by ISO 4217.
enum CurrencyExponents {
    private static let none: Set<String> = [
        "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND",
        "VUV", "XAF", "XOF", "XPF",
    ]
    private static let three: Set<String> = ["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"]
    private static let four: Set<String> = ["CLF", "UYW"]

    /// Two for any code not listed; nil for what is no code of three capital letters.
    static func exponent(of code: String) -> Int? {
        guard code.utf8.count == 3, code.utf8.allSatisfy({ $0 >= 0x41 && $0 <= 0x5a }) else {
            return nil
        }
        if none.contains(code) { return 0 }
        if three.contains(code) { return 3 }
        return four.contains(code) ? 4 : 2
    }
}

extension String {
    /// ASCII letters as capitals, everything else as it is.
    var raisedASCII: String {
        String(decoding: utf8.map { $0 >= 0x61 && $0 <= 0x7a ? $0 & 0xdf : $0 }, as: UTF8.self)
    }
}
