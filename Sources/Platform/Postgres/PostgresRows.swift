internal import CPostgres

/// The rows of one statement, kept as libpq received them; reading copies single values only.
package struct PostgresRows: Sendable, RandomAccessCollection {
    private let result: PostgresResult

    init(_ result: PostgresResult) { self.result = result }

    package var startIndex: Int { 0 }
    package var endIndex: Int { result.count }

    /// How many rows the statement inserted, updated, deleted, or returned.
    package var affected: Int { result.affected }

    package subscript(position: Int) -> PostgresRow {
        precondition(position >= 0 && position < result.count, "no row \(position)")
        return PostgresRow(result: result, index: Int32(position))
    }

    /// The only row; an error when there is none or more than one.
    package func only() throws(PostgresError) -> PostgresRow {
        guard count == 1 else {
            throw PostgresError(
                kind: .decoding, message: "\(count) rows where one is due",
                statement: result.statement)
        }
        return self[0]
    }
}

/// Owns a `PGresult`, which nobody changes after it was received: hence free to cross threads.
final class PostgresResult: @unchecked Sendable {
    let pointer: OpaquePointer
    let statement: String
    let count: Int
    let columns: Int32

    init(_ pointer: OpaquePointer, statement: String) {
        self.pointer = pointer
        self.statement = statement
        count = Int(PQntuples(pointer))
        columns = PQnfields(pointer)
    }

    deinit { PQclear(pointer) }

    var affected: Int { Int(String(cString: PQcmdTuples(pointer))) ?? 0 }

    /// Such as `COMMIT` or `INSERT 0 1`.
    var commandTag: String { String(cString: PQcmdStatus(pointer)) }

    func name(ofColumn column: Int32) -> String {
        PQfname(pointer, column).map { String(cString: $0) } ?? "#\(column)"
    }
}
