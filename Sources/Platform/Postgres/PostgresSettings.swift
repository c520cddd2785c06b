/// How to reach a database.
package struct PostgresSettings: Sendable {
    /// Whether statements are kept on the server.
    package enum Preparation: Sendable, Hashable {
        /// Prepared with their first use on a connection.
        case automatic
        /// Parsed each time, and no session setting is made: for pgbouncer in transaction mode.
        case never
    }

    /// Conninfo (`host=… user=…`) or a URL (`postgresql://…`), as libpq reads it.
    package var connectionString: String
    /// Shown in `pg_stat_activity`.
    package var applicationName: String
    package var connectTimeout: Duration
    /// The server's own limit for a statement, which also holds when this process vanishes; a statement
    /// with a longer timeout is cut here. `.zero` is none. Not set when `preparation` is `.never`.
    package var statementTimeout: Duration
    package var preparation: Preparation

    package init(
        connectionString: String, applicationName: String = "nuxie-journey",
        connectTimeout: Duration = .seconds(5), statementTimeout: Duration = .seconds(30),
        preparation: Preparation = .automatic
    ) {
        self.connectionString = connectionString
        self.applicationName = applicationName
        self.connectTimeout = connectTimeout
        self.statementTimeout = statementTimeout
        self.preparation = preparation
    }
}
