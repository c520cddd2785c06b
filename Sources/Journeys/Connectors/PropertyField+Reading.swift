internal import JSON
internal import TimeZones

/// What a property's place held.
enum PropertyValue: Sendable, Hashable {
    case absent
    case value(JSONValue)
    /// Something is there that cannot be what the definition expects; the text says what, for the notes.
    case refused(String)
}

/// Texts longer than this are no ids, words or keys: PostgreSQL could not index them.
let longestText = 512
/// More ids of one person than this are not read.
let mostIDs = 256

extension PropertyField {
    func read(from body: JSONValue) -> PropertyValue {
        switch reading {
        case .text(let pointers): return Self.text(pointers.firstPresent(in: body)) { $0 }
        case .word(let pointers):
            return Self.text(pointers.firstPresent(in: body)) { $0.loweredASCII }
        case .boolean(let pointers):
            guard let value = pointers.firstPresent(in: body) else { return .absent }
            return value.bool.map { .value(.bool($0)) } ?? .refused("\(value.kind), not a boolean")
        case .texts(let pointers):
            guard let value = pointers.firstPresent(in: body) else { return .absent }
            return .value(.array(idTexts(in: value).map { .string($0) }))
        case .instant(let pointers, let unit):
            guard let value = pointers.firstPresent(in: body) else { return .absent }
            guard let instant = unit.instant(value) else {
                return .refused("not a time in \(unit.rawValue) from 1970 to 9999")
            }
            return .value(.string(instant.description))
        case .money(let amount, let currency): return Self.money(amount, currency, body)
        }
    }

    private static func text(
        _ value: JSONValue?, _ change: (String) -> String
    ) -> PropertyValue {
        guard let value else { return .absent }
        guard let text = idText(value) else {
            return .refused("\(value.kind) that is no text of \(longestText) bytes or fewer")
        }
        return .value(.string(change(text)))
    }

    private static func money(
        _ amount: JSONPointer, _ currency: Currency, _ body: JSONValue
    ) -> PropertyValue {
        guard let value = amount.resolve(in: body), !value.isAbsent else { return .absent }
        guard let number = value.number ?? value.string.flatMap({ JSONNumber(literal: $0) }),
            let plain = number.plainDecimal, plain.utf8.count <= longestText
        else { return .refused("no decimal amount") }
        let code: String
        switch currency {
        case .always(let fixed): code = fixed
        case .named(let pointer):
            guard let named = pointer.resolve(in: body).flatMap(idText) else {
                return .refused("an amount without a currency")
            }
            code = named
        }
        return .value(["amount": .string(shortest(plain)), "currency": .string(code)])
    }

    /// The same amount without zeros that say nothing: `5.00` is `5`, so that two spellings of one price
    /// are not two prices.
    private static func shortest(_ plain: String) -> String {
        guard plain.utf8.contains(UInt8(ascii: ".")) else { return plain }
        var digits = Substring(plain)
        while digits.utf8.last == UInt8(ascii: "0") { digits.removeLast() }
        if digits.utf8.last == UInt8(ascii: ".") { digits.removeLast() }
        return digits == "-0" ? "0" : String(digits)
    }
}

/// The text of an id or word: a text, or a number's own digits. Nil for anything absent, too long or of
/// another kind.
func idText(_ value: JSONValue) -> String? {
    let text: String
    switch value {
    case .string(let string): text = string
    case .number(let number): text = number.literal
    case .null, .bool, .array, .object: return nil
    }
    return value.isAbsent || text.utf8.count > longestText ? nil : text
}

/// The usable ids of a value that holds one or a list, in order, at most ``mostIDs``.
func idTexts(in value: JSONValue) -> [String] {
    guard case .array(let items) = value else { return idText(value).map { [$0] } ?? [] }
    return Array(items.lazy.compactMap(idText).prefix(mostIDs))
}
