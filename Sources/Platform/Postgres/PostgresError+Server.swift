internal import CPostgres

extension PostgresError {
    /// What a result with an error says; values that the server quotes are withheld.
    init(result: OpaquePointer, statement: String?) {
        let state = Self.field(result, "C") ?? "XX000"
        let primary = Self.field(result, "M") ?? "no message"
        var message = Self.withholdingValues(primary, sqlState: state)
        if Self.mayTellDetail(state), let detail = Self.field(result, "D") {
            message += ": " + detail
        }
        self.init(
            kind: .server, message: Self.oneLine(message), sqlState: state, statement: statement,
            constraint: Self.field(result, "n"))
        if state == "57014" { kind = .cancelled }
        let isOutdated = state == "0A000" && Self.field(result, "R") == "RevalidateCachedQuery"
        isStalePlan = isOutdated || state == "26000"
    }

    /// What libpq says of a connection.
    static func ofConnection(_ connection: OpaquePointer?, _ kind: Kind) -> PostgresError {
        let text = connection.map { String(cString: PQerrorMessage($0)) } ?? "out of memory"
        return PostgresError(kind: kind, message: oneLine(text))
    }

    static func oneLine(_ text: String) -> String {
        let words = text.split { $0.isNewline || $0 == "\t" }.map { line in
            line.drop { $0 == " " }
        }
        let line = words.filter { !$0.isEmpty }.joined(separator: " ")
        return line.utf8.count <= 500 ? line : String(line.prefix(500)) + "…"
    }

    private static func field(_ result: OpaquePointer, _ code: Character) -> String? {
        guard let ascii = code.asciiValue,
            let text = PQresultErrorField(result, Int32(ascii))
        else { return nil }
        return String(cString: text)
    }

    /// Classes 22 (data) and 23 (integrity) quote values in their details; P0 says what its author likes.
    private static func mayTellDetail(_ sqlState: String) -> Bool {
        !["22", "23", "P0"].contains(String(sqlState.prefix(2)))
    }

    /// Class 22 quotes the value in the message itself: `invalid input syntax for type date: "…"`.
    private static func withholdingValues(_ message: String, sqlState: String) -> String {
        guard sqlState.hasPrefix("22"), let first = message.firstIndex(of: "\""),
            let last = message.lastIndex(of: "\"")
        else { return message }
        return message[..<first] + "\"…\"" + message[message.index(after: last)...]
    }
}
