package import Postgres

/// Wakes other processes through PostgreSQL, outside every transaction that stores something: a NOTIFY
/// inside the inserting transaction would cost most of its throughput.
package struct WakeStore: Sendable {
    /// What other processes may be waiting for.
    package enum Channel: String, Sendable, Hashable, CaseIterable {
        /// Inputs were stored: a turn may be due.
        case turns = "journey_turns"
        /// Effects were requested: an attempt may be due.
        case effects = "journey_effects"
    }

    private let pool: PostgresPool

    package init(pool: PostgresPool) { self.pool = pool }

    /// Tells whoever listens on the channel.
    package func notify(_ channel: Channel) async throws(PostgresError) {
        _ = try await pool.query(Self.notifying, [.text(channel.rawValue)])
    }

    private static let notifying = SQLStatement(
        "wake_notify",
        """
        select pg_notify($1, '') is null as told
        """)
}
