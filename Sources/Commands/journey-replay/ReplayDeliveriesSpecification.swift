internal import CommandLine

extension CommandSpecification {
    /// Terms that select stored deliveries.
    static let replayTerms: [Selector.Term] = [
        .customer, .connector, .event, .status, .environment, .since, .until,
    ]

    static let replayDeliveries = CommandSpecification(
        name: "replay-deliveries", summary: "Offer stored deliveries to their customers again",
        discussion: """
            --remap maps the stored bodies again by the configuration that the worker runs with. The same \
            result does nothing. A different one is the next revision of the same event, with its original \
            times: it updates the customer and can satisfy waits, and takes back what the earlier one set \
            of a subscription. Nothing starts unless --start is said; then workflows start that this event \
            has not started. The live runs that the earlier revision started are listed, and cancelled \
            with --cancel-started. --start without --remap offers the events as they are stored, to start \
            workflows and for nothing else.

            The runs that are started send nothing, for life: every action takes next, with \
            {"suppressed": "replay"}. --effects record also keeps each request as it would have been sent; \
            --effects live sends. Try deliveries recheck first: it says what would change.

            A worker does it as a batch, which goes on if this command is ended. Deliveries that a provider \
            never re-sent are not covered: what was not stored cannot be offered again. Neither are bodies \
            that are no longer kept. Exit codes: 0 all done, 4 nothing is selected, 6 refused, 7 partly \
            done, paused or not begun.
            """,
        examples: [
            Example(
                "journey-replay replay-deliveries --remap --where status=unreadable --reason \"mapping mended\"",
                "read again what no mapping could read"),
            Example(
                "journey-replay replay-deliveries --remap --start --effects record 1041 --reason test",
                "one delivery, and see what would have been sent"),
            Example(
                "journey-replay replay-deliveries --start --where \"event=trial.started since=2h\" "
                    + "--dry-run",
                "who would be offered to workflows that were published too late"),
        ],
        options: Selector.options(replayTerms, lists: false) + changing + [
            OptionSpecification("remap", help: "map the stored bodies again"),
            OptionSpecification(
                "start", help: "start workflows that these events have not started"),
            OptionSpecification(
                "cancel-started", help: "cancel live runs that the earlier revision started"),
            OptionSpecification(
                "effects", valueName: "WORD",
                help: "of the runs it starts: suppress, record or live; suppress when left out"),
            OptionSpecification(
                "rate", valueName: "N/s", help: "most a second; 50/s when left out"),
        ],
        arguments: [
            ArgumentSpecification(
                "DELIVERY", help: "deliveries by number; - takes them from standard input",
                isRequired: false, repeats: true)
        ])

    private static let batch = ArgumentSpecification("BATCH", help: "a batch's number")

    private static func steering(
        _ name: String, _ summary: String, _ example: String
    ) -> CommandSpecification {
        CommandSpecification(
            name: name, summary: summary,
            examples: [
                Example("journey-replay batches \(name) 3 --reason \"\(example)\"", "one batch")
            ],
            options: changing.filter {
                ["reason", "yes", "expect", "dry-run", "output"].contains($0.long)
            },
            arguments: [
                ArgumentSpecification("BATCH", help: "batches by number", repeats: true)
            ])
    }

    static let batches = CommandSpecification(
        name: "batches", summary: "Long work that workers do: how it stands, and steering it",
        examples: [
            Example("journey-replay batches list", "what is under way"),
            Example("journey-replay batches pause 3 --reason \"peak hours\"", "hold one"),
        ],
        subcommands: [
            CommandSpecification(
                name: "list", summary: "List batches, the newest first",
                examples: [Example("journey-replay batches list", "what was asked for")],
                options: [
                    OptionSpecification(
                        "limit", valueName: "N", help: "most rows, 1 to 1000; 100 when left out"),
                    OutputFormat.option,
                ]),
            CommandSpecification(
                name: "show", summary: "Show a batch whole",
                examples: [Example("journey-replay batches show 3", "how far it has come")],
                options: [OutputFormat.option], arguments: [batch]),
            CommandSpecification(
                name: "findings", summary: "What a batch did, and what it could not do and why",
                examples: [
                    Example("journey-replay batches findings 3", "what came of each delivery")
                ],
                options: [OutputFormat.option], arguments: [batch]),
            steering("pause", "Hold batches; nothing is undone", "peak hours"),
            steering("resume", "Let paused batches go on", "the night has come"),
            steering("cancel", "End batches; what they did stays done", "not needed"),
        ])
}
