/// One named query. The name is how the server keeps the plan, and how errors and metrics speak of it.
package struct SQLStatement: Sendable {
    /// `[a-z_0-9]+`, at most 48 bytes; two statements of one connection never share it.
    package let name: String
    package let sql: String
    /// How long a caller waits for it, from the moment it is sent.
    package let timeout: Duration

    /// Traps when the name is not of the form that ``name`` describes.
    package init(_ name: StaticString, _ sql: String, timeout: Duration = .seconds(10)) {
        self.init(named: name.description, sql, timeout: timeout)
    }

    /// Session and transaction commands are sent as they are.
    let isPrepared: Bool

    init(
        named name: String, _ sql: String, timeout: Duration = .seconds(10),
        isPrepared: Bool = true
    ) {
        let isName = name.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || byte == UInt8(ascii: "_")
        }
        precondition(
            isName && !name.isEmpty && name.utf8.count <= 48, "\(name) is not a statement name")
        self.isPrepared = isPrepared
        self.name = name
        self.sql = sql
        self.timeout = timeout
    }
}
