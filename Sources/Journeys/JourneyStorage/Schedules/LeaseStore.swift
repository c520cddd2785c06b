package import Postgres

/// Who may do what only one process may do at a time.
///
/// A lease makes sure that somebody does it, and spares the others the work; it is no lock. Whatever is
/// done under it is made safe by rows of its own, such as the cursor of a walk.
package struct LeaseStore: Sendable {
    private let pool: PostgresPool

    package init(pool: PostgresPool) { self.pool = pool }

    /// Takes or keeps a lease.
    ///
    /// - Parameters:
    ///   - name: what it is for.
    ///   - holder: this process, by a name that no other has.
    ///   - length: whole seconds until it may be taken by others.
    /// - Returns: the term, which every new holder counts up; nil while somebody else holds it.
    package func take(
        _ name: String, holder: String, for length: Duration
    ) async throws(PostgresError) -> Int64? {
        let seconds = Int32(clamping: length.components.seconds)
        let rows = try await pool.query(
            Self.taking, [.text(name), .text(holder), .int4(seconds)])
        return try rows.first?.int64("term")
    }

    /// Gives a lease back, so that others need not wait for its end.
    package func release(_ name: String, holder: String) async throws(PostgresError) {
        _ = try await pool.query(Self.releasing, [.text(name), .text(holder)])
    }

    static let taking = SQLStatement(
        "lease_take",
        """
        insert into journey.leases (name, holder, term, expires_at)
        values ($1, $2, 1, clock_timestamp() + make_interval(secs => $3))
        on conflict (name) do update
        set holder = excluded.holder, expires_at = excluded.expires_at,
            term = leases.term + case when leases.holder = excluded.holder then 0 else 1 end
        where leases.holder = excluded.holder or leases.expires_at <= clock_timestamp()
        returning term
        """)

    static let releasing = SQLStatement(
        "lease_release",
        """
        update journey.leases set expires_at = clock_timestamp() where name = $1 and holder = $2
        """)
}
