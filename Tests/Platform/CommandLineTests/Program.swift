import CommandLine

/// A program with every kind of option, argument and verb.
let program = CommandSpecification(
    name: "ledger", summary: "keep an account of things",
    discussion:
        "First paragraph that is long enough to be folded at the width of a page of eighty columns.\n\nSecond\nparagraph.",
    examples: [.init("ledger list -o json", "list everything")],
    options: [
        OptionSpecification("database", valueName: "URL", help: "where the rows are"),
        OptionSpecification("verbose", short: "v", help: "say more", repeats: true),
        OptionSpecification("quiet", short: "q", help: "say less"),
    ],
    subcommands: [
        CommandSpecification(
            name: "list", summary: "list rows",
            options: [
                OutputFormat.option,
                OptionSpecification(
                    "where", short: "w", valueName: "TERM", help: "which rows; may repeat",
                    repeats: true),
                OptionSpecification("limit", valueName: "N", help: "at most so many"),
            ],
            arguments: [
                ArgumentSpecification("ID", help: "ids of rows", isRequired: false, repeats: true)
            ]),
        CommandSpecification(
            name: "show", summary: "show a row",
            examples: [.init("ledger show 7", "show the row 7")],
            arguments: [
                ArgumentSpecification("ID", help: "the row's id"),
                ArgumentSpecification("PART", help: "a part of it", isRequired: false),
            ]),
        CommandSpecification(
            name: "dead", summary: "work on dead rows",
            subcommands: [
                CommandSpecification(name: "list", summary: "list dead rows"),
                CommandSpecification(name: "retry", summary: "it's tried again"),
            ]),
    ])
