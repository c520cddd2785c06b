internal import CPostgres
internal import Glibc
package import TimeZones

/// One row. Readers take a column by its name or its place, and throw a `PostgresError` of kind
/// `.decoding` that names statement and column when the column is missing, of another type, or null.
package struct PostgresRow: Sendable {
    let result: PostgresResult
    let index: Int32

    /// A column: a literal name, or a place counted from 0.
    package struct Column: Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
        enum Place { case named(StaticString), at(Int32) }
        let place: Place

        package init(stringLiteral value: StaticString) { place = .named(value) }
        package init(integerLiteral value: Int32) { place = .at(value) }
        package init(_ index: Int) { place = .at(Int32(clamping: index)) }
    }

    /// A whole number; throws on null.
    package func int64(_ column: Column) throws(PostgresError) -> Int64 {
        try required(column, Self.readInteger)
    }

    /// A whole number, or nil for null.
    package func int64OrNil(_ column: Column) throws(PostgresError) -> Int64? {
        try optional(column, Self.readInteger)
    }

    /// A whole number of 32 bits; throws on null.
    package func int32(_ column: Column) throws(PostgresError) -> Int32 {
        try required(column) { cell in Self.readInteger(cell).flatMap { Int32(exactly: $0) } }
    }

    /// A whole number of 32 bits, or nil for null.
    package func int32OrNil(_ column: Column) throws(PostgresError) -> Int32? {
        try optional(column) { cell in Self.readInteger(cell).flatMap { Int32(exactly: $0) } }
    }

    /// A binary fraction; throws on null.
    package func double(_ column: Column) throws(PostgresError) -> Double {
        try required(column, Self.readDouble)
    }

    /// A binary fraction, or nil for null.
    package func doubleOrNil(_ column: Column) throws(PostgresError) -> Double? {
        try optional(column, Self.readDouble)
    }

    /// A boolean; throws on null.
    package func bool(_ column: Column) throws(PostgresError) -> Bool {
        try required(column, Self.readBool)
    }

    /// A boolean, or nil for null.
    package func boolOrNil(_ column: Column) throws(PostgresError) -> Bool? {
        try optional(column, Self.readBool)
    }

    /// A text; throws on null.
    package func string(_ column: Column) throws(PostgresError) -> String {
        try required(column, Self.readText)
    }

    /// A text, or nil for null.
    package func stringOrNil(_ column: Column) throws(PostgresError) -> String? {
        try optional(column, Self.readText)
    }

    /// A `bytea`.
    package func bytes(_ column: Column) throws(PostgresError) -> [UInt8] {
        try required(column, Self.readBytes)
    }

    /// The bytes, or nil for null.
    package func bytesOrNil(_ column: Column) throws(PostgresError) -> [UInt8]? {
        try optional(column, Self.readBytes)
    }

    /// The text of a `jsonb` or `json`.
    package func json(_ column: Column) throws(PostgresError) -> [UInt8] {
        try required(column, Self.readJSON)
    }

    /// The JSON text, or nil for null.
    package func jsonOrNil(_ column: Column) throws(PostgresError) -> [UInt8]? {
        try optional(column, Self.readJSON)
    }

    /// A `timestamptz`, cut down to the millisecond; not `infinity`, nor outside years 0 to 9999.
    package func instant(_ column: Column) throws(PostgresError) -> Instant {
        try required(column, Self.readInstant)
    }

    /// An instant, cut to milliseconds, or nil for null.
    package func instantOrNil(_ column: Column) throws(PostgresError) -> Instant? {
        try optional(column, Self.readInstant)
    }

    /// Whether the value is null.
    package func isNull(_ column: Column) throws(PostgresError) -> Bool {
        PQgetisnull(result.pointer, index, try place(of: column)) == 1
    }

    /// The value's bytes in wire form, without a copy, valid inside `body` only; nil for null.
    package func withBytes<Value>(
        _ column: Column, _ body: (UnsafeRawBufferPointer?) -> Value
    ) throws(PostgresError) -> Value {
        let cell = try cell(column)
        return body(cell?.bytes)
    }

    // MARK: Arrays of one dimension

    /// An array of booleans, nulls as nil.
    package func bools(_ column: Column) throws(PostgresError) -> [Bool?] {
        try array(column, of: TypeID.boolArray, Self.readBool)
    }

    /// Of `int4[]` and `int8[]`.
    package func int64s(_ column: Column) throws(PostgresError) -> [Int64?] {
        try array(column, of: TypeID.int8Array, orOf: TypeID.int4Array, Self.readInteger)
    }

    /// An array of texts, nulls as nil.
    package func strings(_ column: Column) throws(PostgresError) -> [String?] {
        try array(column, of: TypeID.textArray, Self.readText)
    }

    /// An array of byte strings, nulls as nil.
    package func byteArrays(_ column: Column) throws(PostgresError) -> [[UInt8]?] {
        try array(column, of: TypeID.byteaArray, Self.readBytes)
    }

    /// An array of JSON texts, nulls as nil.
    package func jsons(_ column: Column) throws(PostgresError) -> [[UInt8]?] {
        try array(column, of: TypeID.jsonbArray, Self.readJSON)
    }

    /// An array of instants, nulls as nil.
    package func instants(_ column: Column) throws(PostgresError) -> [Instant?] {
        try array(column, of: TypeID.timestamptzArray, Self.readInstant)
    }
}

// MARK: - Cells

extension PostgresRow {
    /// A value that is not null, in binary form.
    struct Cell {
        let typeID: UInt32
        let bytes: UnsafeRawBufferPointer
    }

    private func place(of column: Column) throws(PostgresError) -> Int32 {
        switch column.place {
        case .at(let place):
            if place >= 0, place < result.columns { return place }
            throw failure("there is no column \(place)")
        case .named(let name):
            for place in 0..<result.columns where Self.isSame(name, PQfname(result.pointer, place))
            {
                return place
            }
            throw failure("there is no column \(name)")
        }
    }

    private static func isSame(_ name: StaticString, _ other: UnsafePointer<CChar>?) -> Bool {
        guard let other, name.hasPointerRepresentation else {
            return other.map { String(cString: $0) == name.description } ?? false
        }
        let count = name.utf8CodeUnitCount
        return strlen(other) == count && memcmp(name.utf8Start, other, count) == 0
    }

    private func cell(_ column: Column) throws(PostgresError) -> Cell? {
        let place = try place(of: column)
        if PQgetisnull(result.pointer, index, place) == 1 { return nil }
        let bytes = UnsafeRawBufferPointer(
            start: PQgetvalue(result.pointer, index, place),
            count: Int(PQgetlength(result.pointer, index, place)))
        return Cell(typeID: PQftype(result.pointer, place), bytes: bytes)
    }

    private func required<Value>(
        _ column: Column, _ read: (Cell) -> Value?
    ) throws(PostgresError) -> Value {
        if let value = try optional(column, read) { return value }
        throw failure("column \(result.name(ofColumn: try place(of: column))) is null")
    }

    private func optional<Value>(
        _ column: Column, _ read: (Cell) -> Value?
    ) throws(PostgresError) -> Value? {
        guard let cell = try cell(column) else { return nil }
        if let value = read(cell) { return value }
        let name = result.name(ofColumn: try place(of: column))
        throw failure(
            "column \(name), of type number \(cell.typeID), does not hold a \(Value.self)")
    }

    private func array<Element>(
        _ column: Column, of typeID: UInt32, orOf otherID: UInt32 = 0,
        _ read: (Cell) -> Element?
    ) throws(PostgresError) -> [Element?] {
        try required(column) { cell in
            guard cell.typeID == typeID || cell.typeID == otherID else { return nil }
            return ArrayReader(cell.bytes).elements(read)
        }
    }

    private func failure(_ message: String) -> PostgresError {
        PostgresError(kind: .decoding, message: message, statement: result.statement)
    }

    // MARK: Types

    private static func readInteger(_ cell: Cell) -> Int64? {
        switch (cell.typeID, cell.bytes.count) {
        case (TypeID.int8, 8): Int64(bigEndian: cell.bytes.loadUnaligned(as: Int64.self))
        case (TypeID.int4, 4): Int64(Int32(bigEndian: cell.bytes.loadUnaligned(as: Int32.self)))
        case (TypeID.int2, 2): Int64(Int16(bigEndian: cell.bytes.loadUnaligned(as: Int16.self)))
        case (TypeID.oid, 4): Int64(UInt32(bigEndian: cell.bytes.loadUnaligned(as: UInt32.self)))
        case (_, _): nil
        }
    }

    private static func readDouble(_ cell: Cell) -> Double? {
        switch (cell.typeID, cell.bytes.count) {
        case (TypeID.float8, 8):
            Double(bitPattern: UInt64(bigEndian: cell.bytes.loadUnaligned(as: UInt64.self)))
        case (TypeID.float4, 4):
            Double(
                Float(bitPattern: UInt32(bigEndian: cell.bytes.loadUnaligned(as: UInt32.self))))
        case (_, _): nil
        }
    }

    private static func readBool(_ cell: Cell) -> Bool? {
        cell.typeID == TypeID.bool && cell.bytes.count == 1 ? cell.bytes[0] != 0 : nil
    }

    private static let textTypes: Set<UInt32> = [
        TypeID.text, TypeID.varchar, TypeID.bpchar, TypeID.name, TypeID.unknown,
    ]

    private static func readText(_ cell: Cell) -> String? {
        guard textTypes.contains(cell.typeID) else { return nil }
        return String(decoding: cell.bytes, as: UTF8.self)
    }

    private static func readBytes(_ cell: Cell) -> [UInt8]? {
        cell.typeID == TypeID.bytea ? Array(cell.bytes) : nil
    }

    private static func readJSON(_ cell: Cell) -> [UInt8]? {
        if cell.typeID == TypeID.json { return Array(cell.bytes) }
        guard cell.typeID == TypeID.jsonb, cell.bytes.first == 1 else { return nil }
        return Array(cell.bytes.dropFirst())
    }

    private static func readInstant(_ cell: Cell) -> Instant? {
        guard cell.typeID == TypeID.timestamptz, cell.bytes.count == 8 else { return nil }
        let microseconds = Int64(bigEndian: cell.bytes.loadUnaligned(as: Int64.self))
        let (whole, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000)
        let milliseconds = whole - (rest < 0 ? 1 : 0) + Instant.postgresEpoch.milliseconds
        let instant = Instant(milliseconds: milliseconds)
        return instant >= .earliest && instant <= .latest ? instant : nil
    }
}

/// Walks the binary form of an array.
private struct ArrayReader {
    private var rest: UnsafeRawBufferPointer.SubSequence

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes[...] }

    /// Nil when the bytes are not an array of at most one dimension, or an element cannot be read.
    consuming func elements<Element>(_ read: (PostgresRow.Cell) -> Element?) -> [Element?]? {
        guard let dimensions = number(), number() != nil, let type = number() else { return nil }
        if dimensions == 0 { return [] }
        guard dimensions == 1, let count = number(), count >= 0, number() != nil else { return nil }
        var elements: [Element?] = []
        elements.reserveCapacity(min(Int(count), rest.count / 4))
        for _ in 0..<count {
            guard let length = number() else { return nil }
            if length < 0 {
                elements.append(nil)
                continue
            }
            guard rest.count >= Int(length) else { return nil }
            let bytes = UnsafeRawBufferPointer(rebasing: rest.prefix(Int(length)))
            rest = rest.dropFirst(Int(length))
            let cell = PostgresRow.Cell(typeID: UInt32(bitPattern: type), bytes: bytes)
            guard let value = read(cell) else { return nil }
            elements.append(value)
        }
        return elements
    }

    private mutating func number() -> Int32? {
        guard rest.count >= 4 else { return nil }
        let value = rest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        rest = rest.dropFirst(4)
        return Int32(bitPattern: value)
    }
}
