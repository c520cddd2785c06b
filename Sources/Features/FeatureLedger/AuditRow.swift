internal import JSON
internal import Postgres

/// Who did which changing verb, and why; written in the same transaction as what it tells of.
struct AuditRow {
    let who: String
    let verb: String
    let reason: String
    let detail: JSONValue

    var insertion: (SQLStatement, [PostgresValue]) {
        (Self.insert, [.text(who), .text(verb), .text(reason), .text(detail.text)])
    }

    private static let insert = SQLStatement(
        "audit_insert",
        "insert into features.audit (who, verb, reason, detail) values ($1, $2, $3, $4::text::json)"
    )
}
