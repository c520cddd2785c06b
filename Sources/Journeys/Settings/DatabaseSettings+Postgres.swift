internal import Configuration
package import Postgres

extension DatabaseSettings {
    /// For a pool of connections.
    package func postgres(applicationName: String) -> PostgresSettings {
        var settings = PostgresSettings(
            connectionString: url.revealed, applicationName: applicationName)
        settings.statementTimeout = statementTimeout
        settings.preparation = prepares ? .automatic : .never
        return settings
    }

    /// For migrations and LISTEN, which a pooler in transaction mode cannot serve.
    package func direct(applicationName: String) -> PostgresSettings {
        var settings = postgres(applicationName: applicationName)
        if let directURL { settings.connectionString = directURL.revealed }
        return settings
    }
}

extension WorkerSettings {
    /// Where feature access is read, with the time limits of the worker's own database.
    package var featureDatabase: PostgresSettings {
        var settings = database.postgres(applicationName: "journey-worker, features")
        if let url = features.url { settings.connectionString = url.revealed }
        return settings
    }
}
