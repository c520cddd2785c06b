internal import CommandLine

extension CommandSpecification {
    /// Terms of each verb that changes something.
    static let cancelTerms: [Selector.Term] = [
        .workflow, .version, .customer, .step, .key, .environment, .since, .until,
    ]
    static let deadTerms: [Selector.Term] = [
        .customer, .workflow, .status, .step, .error, .environment, .since, .until,
    ]

    /// The options of every verb that changes something.
    static let changing = [
        OptionSpecification(
            "reason", valueName: "TEXT", help: "why; required, and kept in the audit"),
        OptionSpecification("yes", short: "y", help: "do not ask"),
        OptionSpecification(
            "expect", valueName: "N", help: "refuse unless exactly so many are selected"),
        OptionSpecification("all", help: "select everything; without it a selection must be made"),
        OptionSpecification("dry-run", help: "print how many and the first ten, and do nothing"),
        OptionSpecification("no-wait", help: "do not wait for a worker to decide the commands"),
        OptionSpecification(
            "environment", valueName: "NAME", help: "whose customers; production when left out"),
        OptionSpecification(
            "app", valueName: "NAME", help: "the app that keys customers, where one is configured"),
        OutputFormat.option,
    ]

    private static let decided = """
        It is a command: a worker decides it in the customer's next turn, and the verb waits for that, at \
        most ten seconds. Exit codes: 0 all done, 4 nothing is selected, 6 refused, 7 partly done or not \
        yet decided.
        """

    private static let effects = ArgumentSpecification(
        "EFFECT",
        help:
            "effects or runs by id, or 8 characters of it and more; - takes ids from standard input",
        isRequired: false, repeats: true)

    static let cancel = CommandSpecification(
        name: "cancel", summary: "End live runs",
        discussion: """
            The runs end cancelled, with --reason as the reason; effects that wait for an attempt are \
            taken back. \(decided)
            """,
        examples: [
            Example("journey-replay cancel 3f2a --reason \"asked by support\"", "one run"),
            Example(
                "journey-replay cancel --where workflow=welcome --yes --expect 137 --reason recalled",
                "a whole workflow, from a script"),
        ],
        options: Selector.options(cancelTerms, lists: false) + changing,
        arguments: [
            ArgumentSpecification(
                "RUN", help: "runs by id; - takes ids from standard input", isRequired: false,
                repeats: true)
        ])

    static let retry = CommandSpecification(
        name: "retry", summary: "Have dead effects attempted again, or stuck customers' turns",
        discussion: """
            An effect whose run failed with it is attempted again under the same id, so that a receiver \
            that honours the key does nothing twice; its run lives again at that step. --stuck sets \
            customers free whose turns were given up. \(decided)
            """,
        examples: [
            Example(
                "journey-replay retry 9c1e04d7 --reason \"the receiver is back\"", "one effect"),
            Example(
                "journey-replay retry --where \"workflow=welcome error=http_500\" --dry-run",
                "what would be attempted again"),
            Example("journey-replay retry --stuck --all --reason mended", "every stuck customer"),
        ],
        options: Selector.options(deadTerms, lists: false) + changing + [
            OptionSpecification("stuck", help: "stuck customers instead of effects")
        ],
        arguments: [effects])

    static let dead = CommandSpecification(
        name: "dead", summary: "Effects that ended badly and that nobody has settled",
        discussion: """
            Dead is an effect that its run failed with, and one of which nobody knows whether it arrived.
            """,
        examples: [
            Example("journey-replay dead list", "what needs somebody"),
            Example(
                "journey-replay dead discard --ambiguous --all --reason \"checked by hand\"",
                "settle what may have been sent"),
        ],
        subcommands: [
            CommandSpecification(
                name: "list", summary: "List dead effects, the newest end first",
                examples: [
                    Example("journey-replay dead list --ambiguous", "what may have been sent"),
                    Example("journey-replay dead list --where since=1d -o ids", "ids for a script"),
                ],
                options: Selector.options(deadTerms) + [
                    ambiguous,
                    OptionSpecification(
                        "environment", valueName: "NAME", help: "whose customers; any when left out"
                    ),
                    OptionSpecification(
                        "app", valueName: "NAME",
                        help: "the app that keys customers, where one is configured"),
                    OutputFormat.option,
                ], arguments: [effects]),
            CommandSpecification(
                name: "retry", summary: "Have dead effects attempted again",
                discussion: "As journey-replay retry. \(decided)",
                examples: [
                    Example(
                        "journey-replay dead retry --where error=network --reason \"it is back\"",
                        "what an outage left")
                ],
                options: Selector.options(deadTerms, lists: false) + changing + [ambiguous],
                arguments: [effects]),
            CommandSpecification(
                name: "discard", summary: "Settle dead effects: they are listed no more",
                discussion: """
                    Nothing is sent and no run changes; who settled it and why is kept in the audit.
                    """,
                examples: [
                    Example(
                        "journey-replay dead discard 9c1e04d7 --reason \"told by phone\"",
                        "one effect")
                ],
                options: Selector.options(deadTerms, lists: false) + changing + [ambiguous],
                arguments: [effects]),
        ])

    private static let ambiguous = OptionSpecification(
        "ambiguous", help: "only those of which nobody knows whether they arrived")

    /// Verbs that change what customers go through.
    static let steering = [cancel, retry, dead, importingSubscriptions, alias]
}
