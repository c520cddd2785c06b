internal import CommandLine

extension CommandSpecification {
    /// Terms of each listing verb.
    static let runTerms: [Selector.Term] = [
        .workflow, .version, .status, .customer, .connector, .event, .step, .error, .key,
        .environment, .since, .until,
    ]
    static let eventTerms: [Selector.Term] = [
        .customer, .event, .connector, .environment, .since, .until,
    ]
    static let deliveryTerms: [Selector.Term] = [
        .customer, .connector, .status, .environment, .since, .until,
    ]
    static let effectTerms: [Selector.Term] = [
        .customer, .workflow, .status, .step, .environment, .since, .until,
    ]

    static let run = ArgumentSpecification(
        "RUN", help: "a run's id, or enough of its beginning")
    static let whose = [
        OptionSpecification(
            "environment", valueName: "NAME", help: "whose customers; production when left out"),
        OptionSpecification(
            "app", valueName: "NAME", help: "the app that keys customers, where one is configured"),
    ]

    private static func listing(
        _ name: String, _ summary: String, discussion: String = "", terms: [Selector.Term],
        ids: ArgumentSpecification, examples: [Example]
    ) -> CommandSpecification {
        CommandSpecification(
            name: name, summary: summary, discussion: discussion, examples: examples,
            options: Selector.options(terms) + whose + [OutputFormat.option], arguments: [ids])
    }

    private static func ids(_ name: String, _ help: String) -> ArgumentSpecification {
        ArgumentSpecification(name, help: help, isRequired: false, repeats: true)
    }

    /// Verbs that look; all of them read only.
    static let looking = [
        listing(
            "list", "List runs, newest entry first", terms: runTerms,
            ids: ids("RUN", "runs by id; - takes ids from standard input"),
            examples: [
                Example(
                    "journey-replay list --where \"workflow=welcome status=waiting\"",
                    "who is under way"),
                Example(
                    "journey-replay list --where customer=user-42 -o ids", "a customer's run ids"),
            ]),
        listing(
            "count", "Count runs", terms: runTerms,
            ids: ids("RUN", "runs by id; - takes ids from standard input"),
            examples: [
                Example(
                    "journey-replay count --where \"workflow=welcome status=failed since=1d\"",
                    "how many failed today")
            ]),
        CommandSpecification(
            name: "show", summary: "Say why a run is not moving, and when it will",
            discussion: """
                Prints what holds the run, its next wake, its effects and the end of its history. \
                Times in words are told by the database's clock.
                """,
            examples: [Example("journey-replay show 3f2a", "why this run waits")],
            options: [OutputFormat.option], arguments: [run]),
        CommandSpecification(
            name: "history", summary: "Print every decision of a run",
            discussion: "Prints a line an entry; -o json has the entries whole.",
            examples: [
                Example("journey-replay history 3f2a", "what happened, in words"),
                Example("journey-replay history 3f2a -o jsonl", "one decision a line, whole"),
                Example("journey-replay history 3f2a --follow", "and what is decided from now on"),
            ],
            options: [
                OptionSpecification(
                    "follow", help: "go on printing decisions as they are made, until the run ends"),
                OutputFormat.option,
            ], arguments: [run]),
        trace,
        CommandSpecification(
            name: "customer", summary: "Tell what happened to a customer, in order",
            discussion: """
                Prints the record, its ids and attributes, its runs, and one timeline of deliveries, \
                events, steps, waits and effects. -o jsonl prints the timeline alone.
                """,
            examples: [
                Example("journey-replay customer user-42", "the whole story"),
                Example(
                    "journey-replay customer user-42 --environment sandbox",
                    "the same person in another environment"),
            ],
            options: whose + [
                OptionSpecification(
                    "limit", valueName: "N",
                    help: "most lines of the timeline, the newest; 200 when left out"),
                OutputFormat.option,
            ],
            arguments: [ArgumentSpecification("ID", help: "any id the customer is known by")]),
        listing(
            "events", "List events, the newest recorded first", terms: eventTerms,
            ids: ids("EVENT", "events by id or its beginning; - takes ids from standard input"),
            examples: [
                Example(
                    "journey-replay events --where \"event=trial.started since=2h\"",
                    "what came in lately")
            ]),
        listing(
            "deliveries", "List deliveries, or show one or its raw body",
            discussion: """
                deliveries lists; deliveries count sums by connector and state; deliveries show ID \
                prints one; deliveries raw ID writes the stored body and nothing else. A status is \
                unread, processed, duplicate, conflict, unreadable, unassigned, unknown (a type that the \
                mapping does not know) or ignored. deliveries recheck checks signatures and mapping of \
                stored bodies again, by --config, as of the time they came, prints those that would \
                change, and changes nothing; static credentials and tokens are not kept, so those say \
                nothing. See replay-deliveries for taking the new mapping over.
                """,
            terms: deliveryTerms,
            ids: ids(
                "WORD",
                "count, show ID, raw ID, recheck [ID…], or ids to list; - takes ids from standard input"
            ),
            examples: [
                Example(
                    "journey-replay deliveries --where \"connector=revenuecat since=1d\"",
                    "what a provider sent"),
                Example(
                    "journey-replay deliveries count --where since=7d",
                    "how many were conflicting, unreadable, unknown, …"),
                Example("journey-replay deliveries raw 1041", "the body as it was received"),
                Example(
                    "journey-replay deliveries recheck --where since=1d --config config.json",
                    "what the configuration of now would make of them"),
            ]),
        listing(
            "effects", "List effects, newest request first", terms: effectTerms,
            ids: ids(
                "EFFECT",
                "effects or runs by id, or 8 characters of it and more; - takes ids from standard input"
            ),
            examples: [
                Example("journey-replay effects --where status=unknown", "what must be looked at"),
                Example(
                    "journey-replay effects --where customer=user-42", "what was sent to a customer"
                ),
            ]),
        audit,
    ]
}
