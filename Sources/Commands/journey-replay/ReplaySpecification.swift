package import CommandLine

// The command line as data; each group of verbs adds its own beside its code.
extension CommandSpecification {
    /// The whole program.
    package static let replay = CommandSpecification(
        name: "journey-replay",
        summary: "Look at, check and publish journeys; find out what happened to a customer",
        discussion: """
            Verbs that look or publish work on PostgreSQL alone. The database is the one of --database, \
            else of --config, else the private cluster that runs under --data, else DATABASE_URL; \
            which one it was is said on standard error. Verbs that look use read-only transactions.

            Verbs that change something say first what they would change, ask, and keep --reason in the \
            audit; in scripts --yes answers, and --expect N says how many.

            Exit codes: 0 done, 1 error, 2 usage or configuration, 4 not found, 5 a run differs, \
            6 refused by a guard, 7 partly done, 130 interrupted.
            """,
        examples: [
            Example("journey-replay customer user-42", "what happened to a customer, in order"),
            Example("journey-replay show 3f2a", "why a run is not moving"),
            Example("journey-replay validate", "check every file under Workflows"),
        ],
        options: [
            OptionSpecification(
                "database", valueName: "URL", help: "the database's URL or conninfo"),
            OptionSpecification(
                "config", valueName: "FILE",
                help: "configuration that names database and connectors"
            ),
            OptionSpecification(
                "data", valueName: "DIR",
                help: "home of the private cluster of journey-worker dev; .journeys when left out"),
        ],
        subcommands: looking + checking + repeating + trying + steering + [
            publish, start, replayDeliveries, batches,
        ])
}

extension CommandSpecification {
    /// Verbs that make decisions again, or carry runs away.
    static let repeating = [verify, diff, export, importing]
}

extension OptionSpecification {
    /// `--at TIME`.
    static let at = OptionSpecification(
        "at", valueName: "TIME", help: "the time to assume, RFC 3339; now when left out")
}
