package import TimeZones

/// A parameter; it travels in PostgreSQL's binary form and says its own type, so that SQL may cast it.
///
/// Arrays have one dimension.
package enum PostgresValue: Sendable, Hashable {
    /// Its type is what the SQL around it says.
    case null
    case bool(Bool)
    case int4(Int32)
    case int8(Int64)
    case double(Double)
    /// PostgreSQL refuses U+0000 in it.
    case text(String)
    case bytea([UInt8])
    /// JSON text in UTF-8.
    case jsonb([UInt8])
    case timestamptz(Instant)
    case boolArray([Bool?])
    case int4Array([Int32?])
    case int8Array([Int64?])
    case textArray([String?])
    case byteaArray([[UInt8]?])
    case jsonbArray([[UInt8]?])
    case timestamptzArray([Instant?])

    /// `.int8`, or null for nil.
    package static func optional(_ value: Int64?) -> PostgresValue {
        value.map { .int8($0) } ?? .null
    }

    /// `.text`, or null for nil.
    package static func optional(_ value: String?) -> PostgresValue {
        value.map { .text($0) } ?? .null
    }

    /// `.timestamptz`, or null for nil.
    package static func optional(_ value: Instant?) -> PostgresValue {
        value.map { .timestamptz($0) } ?? .null
    }
}

/// Type numbers of `pg_type`, which are part of PostgreSQL's interface.
enum TypeID {
    static let bool: UInt32 = 16
    static let bytea: UInt32 = 17
    static let name: UInt32 = 19
    static let int8: UInt32 = 20
    static let int2: UInt32 = 21
    static let int4: UInt32 = 23
    static let text: UInt32 = 25
    static let oid: UInt32 = 26
    static let json: UInt32 = 114
    static let float4: UInt32 = 700
    static let float8: UInt32 = 701
    static let unknown: UInt32 = 705
    static let bpchar: UInt32 = 1042
    static let varchar: UInt32 = 1043
    static let timestamptz: UInt32 = 1184
    static let jsonb: UInt32 = 3802

    static let boolArray: UInt32 = 1000
    static let byteaArray: UInt32 = 1001
    static let int4Array: UInt32 = 1007
    static let textArray: UInt32 = 1009
    static let int8Array: UInt32 = 1016
    static let timestamptzArray: UInt32 = 1185
    static let jsonbArray: UInt32 = 3807
}

extension PostgresValue {
    /// 0 leaves the type to the server.
    var typeID: UInt32 {
        switch self {
        case .null: 0
        case .bool: TypeID.bool
        case .int4: TypeID.int4
        case .int8: TypeID.int8
        case .double: TypeID.float8
        case .text: TypeID.text
        case .bytea: TypeID.bytea
        case .jsonb: TypeID.jsonb
        case .timestamptz: TypeID.timestamptz
        case .boolArray: TypeID.boolArray
        case .int4Array: TypeID.int4Array
        case .int8Array: TypeID.int8Array
        case .textArray: TypeID.textArray
        case .byteaArray: TypeID.byteaArray
        case .jsonbArray: TypeID.jsonbArray
        case .timestamptzArray: TypeID.timestamptzArray
        }
    }

    /// Appends the binary form; null has none.
    func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: break
        case .bool(let value): value.appendBinary(to: &bytes)
        case .int4(let value): value.appendBinary(to: &bytes)
        case .int8(let value): value.appendBinary(to: &bytes)
        case .double(let value): value.bitPattern.appendBinary(to: &bytes)
        case .text(let value): value.appendBinary(to: &bytes)
        case .bytea(let value): bytes += value
        case .jsonb(let value): appendJSON(value, &bytes)
        case .timestamptz(let value): value.appendBinary(to: &bytes)
        case .boolArray(let values):
            appendArray(values, of: TypeID.bool, &bytes) { $0.appendBinary(to: &$1) }
        case .int4Array(let values):
            appendArray(values, of: TypeID.int4, &bytes) { $0.appendBinary(to: &$1) }
        case .int8Array(let values):
            appendArray(values, of: TypeID.int8, &bytes) { $0.appendBinary(to: &$1) }
        case .textArray(let values):
            appendArray(values, of: TypeID.text, &bytes) { $0.appendBinary(to: &$1) }
        case .byteaArray(let values):
            appendArray(values, of: TypeID.bytea, &bytes) { $1 += $0 }
        case .jsonbArray(let values):
            appendArray(values, of: TypeID.jsonb, &bytes, appendJSON)
        case .timestamptzArray(let values):
            appendArray(values, of: TypeID.timestamptz, &bytes) { $0.appendBinary(to: &$1) }
        }
    }
}

/// The version byte of `jsonb`'s wire form, then the text.
private func appendJSON(_ text: [UInt8], _ bytes: inout [UInt8]) {
    bytes.append(1)
    bytes += text
}

private func appendArray<Element>(
    _ values: [Element?], of element: UInt32, _ bytes: inout [UInt8],
    _ append: (Element, inout [UInt8]) -> Void
) {
    Int32(values.isEmpty ? 0 : 1).appendBinary(to: &bytes)
    Int32(values.contains { $0 == nil } ? 1 : 0).appendBinary(to: &bytes)
    element.appendBinary(to: &bytes)
    if values.isEmpty { return }
    Int32(values.count).appendBinary(to: &bytes)
    Int32(1).appendBinary(to: &bytes)
    for value in values {
        guard let value else {
            Int32(-1).appendBinary(to: &bytes)
            continue
        }
        let start = bytes.count
        Int32(0).appendBinary(to: &bytes)
        append(value, &bytes)
        let length = UInt32(bytes.count - start - 4)
        for index in 0..<4 {
            bytes[start + index] = UInt8(truncatingIfNeeded: length >> UInt32(24 - 8 * index))
        }
    }
}

extension FixedWidthInteger {
    fileprivate func appendBinary(to bytes: inout [UInt8]) {
        withUnsafeBytes(of: bigEndian) { bytes.append(contentsOf: $0) }
    }
}

extension Bool {
    fileprivate func appendBinary(to bytes: inout [UInt8]) { bytes.append(self ? 1 : 0) }
}

extension String {
    fileprivate func appendBinary(to bytes: inout [UInt8]) { bytes.append(contentsOf: utf8) }
}

extension Instant {
    /// PostgreSQL counts microseconds from here.
    static let postgresEpoch = Instant(milliseconds: 946_684_800_000)

    fileprivate func appendBinary(to bytes: inout [UInt8]) {
        let held = min(max(self, .earliest), .latest)
        let microseconds = (held.milliseconds - Self.postgresEpoch.milliseconds) * 1_000
        microseconds.appendBinary(to: &bytes)
    }
}
