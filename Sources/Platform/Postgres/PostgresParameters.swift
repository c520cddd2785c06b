internal import CPostgres

/// Parameters in the four parallel arrays that libpq takes.
struct PostgresParameters {
    let typeIDs: [UInt32]
    private var bytes: [UInt8] = []
    private var starts: [Int] = []
    private var lengths: [Int32] = []

    /// The protocol counts parameters in 16 bits.
    static let most = 65_535

    init(_ values: [PostgresValue]) {
        precondition(values.count <= Self.most, "\(values.count) parameters in one statement")
        typeIDs = values.map(\.typeID)
        for value in values {
            if case .null = value {
                starts.append(-1)
                lengths.append(0)
                continue
            }
            starts.append(bytes.count)
            value.append(to: &bytes)
            lengths.append(Int32(clamping: bytes.count - (starts.last ?? 0)))
        }
        // So that an empty last value has an address, too.
        bytes.append(0)
    }

    /// Calls `body` with count, values, lengths and formats.
    func withPointers<Value>(
        _ body: (
            Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?,
            UnsafePointer<Int32>?
        ) -> Value
    ) -> Value {
        let formats = [Int32](repeating: 1, count: starts.count)
        return bytes.withUnsafeBytes { buffer in
            let base = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
            let pointers = starts.map { start in start < 0 ? nil : base.map { $0 + start } }
            return pointers.withUnsafeBufferPointer { values in
                body(Int32(starts.count), values.baseAddress, lengths, formats)
            }
        }
    }
}

/// The statements that one connection has prepared.
///
/// A statement used with null where it earlier had a value (or the other way round) may be of another
/// type there, so a name can stand for several plans.
struct PreparedStatements {
    private struct Plan {
        let typeIDs: [UInt32]
        let wireName: String
    }

    enum Choice {
        case ready(wireName: String)
        case prepare(wireName: String)
        /// Too many plans of this name already: send the text.
        case unprepared
    }

    private static let mostPlansOfOneName = 8

    private var plans: [String: [Plan]] = [:]
    private var texts: [String: String] = [:]
    private var serial = 0

    /// Notes a plan as made when the answer is `.prepare`: what follows in the pipeline may use it.
    mutating func choose(_ statement: SQLStatement, typeIDs: [UInt32]) -> Choice {
        let text = texts[statement.name, default: statement.sql]
        precondition(
            text == statement.sql, "two statements are named \(statement.name)")
        let known = plans[statement.name, default: []]
        if let plan = known.first(where: { Self.fits($0.typeIDs, typeIDs) }) {
            return .ready(wireName: plan.wireName)
        }
        guard known.count < Self.mostPlansOfOneName else { return .unprepared }
        // Never used twice: a plan that the server holds outdated keeps its name there.
        serial += 1
        let wireName = "\(statement.name).\(serial)"
        texts[statement.name] = statement.sql
        plans[statement.name] = known + [Plan(typeIDs: typeIDs, wireName: wireName)]
        return .prepare(wireName: wireName)
    }

    mutating func forget(wireName: String, of name: String) {
        plans[name]?.removeAll { $0.wireName == wireName }
    }

    mutating func forgetAll() { plans = [:] }

    private static func fits(_ made: [UInt32], _ used: [UInt32]) -> Bool {
        made.count == used.count && zip(made, used).allSatisfy { $1 == 0 || $0 == $1 }
    }
}
