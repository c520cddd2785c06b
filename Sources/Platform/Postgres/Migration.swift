/// One step of a schema's history; once released it is never changed.
package struct Migration: Sendable, Hashable {
    /// From 1 upwards; a number may be left out.
    package let version: Int
    package let name: String
    package let sql: String
    /// For `create index concurrently` and the like; then `sql` is one statement that may be run again.
    package let runsOutsideTransaction: Bool

    package init(
        version: Int, name: String, sql: String, runsOutsideTransaction: Bool = false
    ) {
        self.version = version
        self.name = name
        self.sql = sql
        self.runsOutsideTransaction = runsOutsideTransaction
    }

    /// FNV-1a of the SQL: it is there to notice an edit, not an enemy.
    package var checksum: String {
        var value: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in sql.utf8 { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}

/// Where a schema stands.
package struct MigrationStatus: Sendable, Hashable {
    /// The highest version applied; 0 for none.
    package let current: Int
    /// The highest version this program knows.
    package let newest: Int
    /// In the order in which they are to run.
    package let pending: [Migration]
    /// Applied ones whose SQL is no longer what it was.
    package let changed: [Migration]

    /// A standing, also one read otherwise than by a ``Migrator``.
    package init(current: Int, newest: Int, pending: [Migration], changed: [Migration]) {
        self.current = current
        self.newest = newest
        self.pending = pending
        self.changed = changed
    }

    /// Whether the schema is exactly what this program wants.
    package var isCurrent: Bool { current == newest && pending.isEmpty && changed.isEmpty }

    /// Whether a newer program was here.
    package var isNewer: Bool { current > newest }
}
