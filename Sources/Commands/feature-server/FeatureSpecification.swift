internal import CommandLine

extension FeatureProgram {
    static let specification = CommandSpecification(
        name: name, summary: "answers apps about features, and keeps the ledger of them",
        discussion: """
            Whether a customer may use a feature, and how much of it: granted by verified App Store \
            purchases and by hand, consumed once under each operation id. No webhook and no journey \
            reaches this ledger.
            """,
        examples: [
            .init("feature-server publish Workflows/catalog --reason first", "what can be granted"),
            .init("feature-server serve --config /etc/feature-server/config.json", "the daemon"),
            .init("feature-server show user-1042", "what one customer holds, and why"),
        ],
        subcommands: [
            serve, dev, migrate, checkConfig, publish, show, grant, revoke, forget, check, rebuild,
        ])

    private static let config = OptionSpecification(
        "config", valueName: "FILE",
        help: "the configuration; default \(CommandContext.defaultConfiguration)")
    private static let database = OptionSpecification(
        "database", valueName: "URL", help: "the database in place of the configuration's")
    private static let data = OptionSpecification(
        "data", valueName: "DIR", help: "the private database of a journey-worker dev that runs")
    private static let environment = OptionSpecification(
        "environment", valueName: "NAME", choices: ["production", "sandbox"],
        help: "which ledger; default production")
    private static let entity = OptionSpecification(
        "entity", valueName: "ID", help: "an entity of the customer's, such as a project")

    /// Of every verb that changes something.
    private static let changing = [
        OptionSpecification("reason", valueName: "TEXT", help: "why; required, and kept"),
        OptionSpecification("yes", short: "y", help: "do not ask"),
        OptionSpecification("dry-run", help: "print what would change and do nothing"),
    ]
    private static let customer = ArgumentSpecification("CUSTOMER", help: "the app's id of them")

    private static let serve = CommandSpecification(
        name: "serve", summary: "the service, with health and metrics beside it",
        discussion: """
            Runs until SIGTERM, then drains: stops accepting and answers what is under way within \
            shutdown.grace. A second SIGTERM stops at once; decisions that nobody heard are kept \
            under their operation ids.
            """, options: [config])

    private static let dev = CommandSpecification(
        name: "dev", summary: "the service beside a journey-worker dev, for trying things out",
        discussion: """
            Uses the private database that journey-worker dev runs: brings the schema features \
            forward, publishes the catalogue, and answers on a port of its own under a key that it \
            prints. The worker there reads the features within half a minute.
            """,
        examples: [.init("feature-server dev", "in a second terminal, from the same folder")],
        options: [
            OptionSpecification(
                "data", valueName: "DIR", help: "the folder of the worker's data; default .journeys"
            ),
            OptionSpecification(
                "catalog", valueName: "DIR", help: "what to publish; default Workflows/catalog"),
            OptionSpecification(
                "listen", valueName: "HOST:PORT", help: "the endpoint; default 127.0.0.1:8081"),
            OptionSpecification(
                "admin", valueName: "HOST:PORT", help: "health and metrics; default 127.0.0.1:9091"),
        ])

    private static let checkConfig = CommandSpecification(
        name: "check-config", summary: "prints everything that is wrong with a configuration",
        discussion: "Exit code 2 when there is a problem.", options: [config])

    private static let migrate = CommandSpecification(
        name: "migrate", summary: "brings the schema features forward",
        discussion: "Run it as feature_owner. Migrations only ever go forward.",
        options: [config, database, data],
        subcommands: [
            CommandSpecification(
                name: "up", summary: "applies what is pending",
                examples: [
                    .init("feature-server migrate up --database URL", "before a new version")
                ]),
            CommandSpecification(name: "status", summary: "says where the schema stands"),
            CommandSpecification(name: "plan", summary: "prints the SQL that up would run"),
        ])

    private static let publish = CommandSpecification(
        name: "publish", summary: "makes catalogue files what can be granted from now on",
        discussion: """
            All files together are the catalogue. What customers hold stays as it was granted; a \
            feature that is published can neither go away nor change its type.
            """,
        examples: [
            .init("feature-server publish Workflows/catalog --dry-run", "only checks the files")
        ], options: [config, database, data] + changing,
        arguments: [
            ArgumentSpecification("FILE", help: "catalogue files or folders", repeats: true)
        ])

    private static let show = CommandSpecification(
        name: "show", summary: "what a customer holds, by grant",
        examples: [.init("feature-server show user-1042 -o json", "for a script")],
        options: [config, database, data, environment, OutputFormat.option], arguments: [customer])

    private static let grant = CommandSpecification(
        name: "grant", summary: "gives a customer a product, or some of a feature",
        examples: [
            .init(
                "feature-server grant user-1042 --product pro --until 2027-01-01T00:00:00Z "
                    + "--reason goodwill", "a product for a while"),
            .init(
                "feature-server grant user-1042 --feature credits --allowance 50 "
                    + "--reason \"ticket 4711\" --yes", "units for good, from a script"),
        ],
        options: [config, database, data, environment, entity] + changing + [
            OptionSpecification("product", valueName: "KEY", help: "everything that it grants"),
            OptionSpecification("feature", valueName: "KEY", help: "one feature"),
            OptionSpecification(
                "allowance", valueName: "N", help: "units, or unlimited; not for a boolean feature"),
            OptionSpecification(
                "interval", valueName: "UNIT",
                choices: ["minute", "hour", "day", "week", "month", "year", "lifetime"],
                help: "how often the units are whole again; default lifetime"),
            OptionSpecification(
                "until", valueName: "TIME", help: "RFC 3339; without it the grant does not end"),
        ], arguments: [customer])

    private static let revoke = CommandSpecification(
        name: "revoke", summary: "ends everything of a grant for good, also of a purchase",
        examples: [
            .init(
                "feature-server revoke user-1042 operator:5f0c --reason mistaken",
                "a grant as show names it")
        ], options: [config, database, data, environment] + changing,
        arguments: [
            customer, ArgumentSpecification("GRANT", help: "as show names it"),
        ])

    private static let forget = CommandSpecification(
        name: "forget", summary: "deletes everything about a customer",
        discussion: """
            Entries, decisions and what they hold are deleted. Ids of store transactions stay \
            without the person, so that nobody is granted them again. Journeys know customers by \
            themselves: see journey-replay forget.
            """, options: [config, database, data, environment] + changing, arguments: [customer])

    private static let check = CommandSpecification(
        name: "check", summary: "compares what is kept with what the ledger makes",
        discussion: "Exit code 5 when something differs.",
        examples: [.init("feature-server check --all", "every customer of both environments")],
        options: [config, database, data, environment, all],
        arguments: [
            ArgumentSpecification(
                "CUSTOMER", help: "whom to check", isRequired: false, repeats: true)
        ])

    private static let rebuild = CommandSpecification(
        name: "rebuild", summary: "makes what is kept anew from the ledger",
        discussion: """
            Where nothing differs nothing is written. Run check first: it says what would change.
            """, options: [config, database, data, environment, all] + changing,
        arguments: [
            ArgumentSpecification(
                "CUSTOMER", help: "whom to rebuild", isRequired: false, repeats: true)
        ])

    private static let all = OptionSpecification("all", help: "every customer")
}
