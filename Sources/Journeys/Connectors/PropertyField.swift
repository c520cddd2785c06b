internal import JSON
internal import TimeZones

/// One property of the event, or one attribute of the customer.
struct PropertyField: Sendable, Hashable {
    enum Reading: Sendable, Hashable {
        case text([TextPlace])
        /// The word of an open set: the table's name for it, else the word with ASCII letters lowered. Where
        /// the table is all there is, any other word is absent.
        case word([TextPlace], table: [String: String], isClosed: Bool)
        /// A boolean, or whether the value is one of these texts.
        case boolean([JSONPointer], trueWords: [String])
        case number([JSONPointer])
        /// A list of ids; a text alone is a list of one.
        case texts([JSONPointer])
        case instant([JSONPointer], [TimeUnit])
        case money(MoneyField)
        case constant(JSONValue)
    }

    let name: String
    /// The field is read only where these hold.
    let clauses: [Clause]
    let reading: Reading
}

/// What a property's place held.
enum PropertyValue: Sendable, Hashable {
    case absent
    case value(JSONValue)
    /// Something is there that cannot be what the definition expects; the text says what, for the notes.
    case refused(String)
}

/// Texts longer than this are no ids, words or keys: PostgreSQL could not index them.
let longestText = 512
/// More ids of one person than this are not read, but counted.
let mostIDs = 50

extension PropertyField {
    func read(from body: JSONValue) -> PropertyValue {
        guard clauses.hold(in: body) else { return .absent }
        switch reading {
        case .text(let places): return Self.text(places.firstPresent(in: body)) { $0 }
        case .word(let places, let table, let isClosed):
            guard let value = places.firstPresent(in: body) else { return .absent }
            if isClosed, idText(value).map({ table[$0] == nil }) ?? false { return .absent }
            return Self.text(value) { table[$0] ?? $0.loweredASCII }
        case .boolean(let pointers, let trueWords):
            guard let value = pointers.firstPresent(in: body) else { return .absent }
            if let flag = value.bool { return .value(.bool(flag)) }
            guard !trueWords.isEmpty, let word = idText(value) else {
                return .refused("\(value.kind), not a boolean")
            }
            return .value(.bool(trueWords.contains(word)))
        case .number(let pointers):
            guard let value = pointers.firstPresent(in: body) else { return .absent }
            guard let number = value.number ?? value.string.flatMap({ JSONNumber(literal: $0) })
            else { return .refused("\(value.kind), not a number") }
            return .value(.number(number))
        case .texts(let pointers):
            let ids = pointers.flatMap { $0.resolve(in: body).map(idTexts) ?? [] }
            let present = pointers.firstPresent(in: body) != nil
            return present ? .value(.array(ids.prefix(mostIDs).map { .string($0) })) : .absent
        case .instant(let pointers, let units):
            guard let value = pointers.firstPresent(in: body) else { return .absent }
            guard let instant = units.instant(value) else {
                let names = units.map(\.rawValue).joined(separator: " or ")
                return .refused("not a time in \(names) from 1970 to 9999")
            }
            return .value(.string(instant.description))
        case .money(let field): return field.read(from: body)
        case .constant(let value): return .value(value)
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

/// The usable ids of a value that holds one or a list, in order.
func idTexts(in value: JSONValue) -> [String] {
    guard case .array(let items) = value else { return idText(value).map { [$0] } ?? [] }
    return items.compactMap(idText)
}
