import CommandLine
import Testing

@Suite struct ParsingTests {
    private func parse(_ line: String) throws(UsageError) -> ParsedCommand {
        try program.parse(line.split(separator: " ").map(String.init))
    }

    @Test func `options and arguments may stand in any order and spelling`() throws {
        let wanted = ParsedCommand(
            path: ["list"],
            options: [
                "output": ["json"], "where": ["a=1", "b"], "database": ["x"], "verbose": ["", ""],
            ],
            arguments: ["ID": ["1", "2"]])
        for line in [
            "list -o json -w a=1 --where=b --database x -vv 1 2",
            "--database=x -v list 1 --output json -v --where a=1 -wb 2",
            "list 1 2 -ojson -w=a=1 -wb --database x -v --verbose",
            "list -vvo json -w a=1 -w b --database x -- 1 2",
        ] {
            #expect(try parse(line) == wanted, "\(line)")
        }
        #expect(OutputFormat.of(wanted) == .json)
        #expect(OutputFormat.of(ParsedCommand()) == .table)
    }

    @Test func `numbers below zero and a lone dash are words`() throws {
        let command = try parse("list --limit -5 - -7 -0.5")
        #expect(command.option("limit") == "-5")
        #expect(command.allArguments("ID") == ["-", "-7", "-0.5"])
        #expect(
            try program.parse(["list", "--", "--limit", "-o"]).allArguments("ID") == [
                "--limit", "-o",
            ])
        #expect(try parse("list --limit -5").integer("limit", in: -9...9) == -5)
        #expect(throws: UsageError.self) {
            try parse("list --limit 10").integer("limit", in: -9...9)
        }
        #expect(throws: UsageError.self) {
            try parse("list --limit ten").integer("limit", in: -9...9)
        }
    }

    @Test func `verbs of verbs are found`() throws {
        #expect(try parse("dead -v retry").path == ["dead", "retry"])
        #expect(try parse("show 7").argument("ID") == "7")
        #expect(try parse("show 7 name").argument("PART") == "name")
        #expect(try parse("-v dead list").flag("verbose"))
        #expect(try !parse("dead list").flag("verbose"))
    }

    @Test(arguments: [
        ("lst", "\"ledger\" has no verb \"lst\"; did you mean \"list\"? See \"ledger --help\"."),
        (
            "dead retyr",
            "\"ledger dead\" has no verb \"retyr\"; did you mean \"retry\"? See \"ledger dead --help\"."
        ),
        (
            "list --wher a",
            "\"ledger list\" has no option --wher; did you mean \"where\"? See \"ledger list --help\"."
        ),
        ("list --zzzzzz", "\"ledger list\" has no option --zzzzzz. See \"ledger list --help\"."),
        ("list -x", "\"ledger list\" has no option -x; see \"ledger list --help\"."),
        (
            "list -o jsn",
            "--output takes table, json, jsonl, ids, not \"jsn\"; did you mean \"json\"?"
        ),
        ("list --limit", "--limit needs a value: --limit N."),
        ("list --limit=", "--limit needs a value that is not empty: --limit N."),
        (
            "list --limit --verbose",
            "--limit needs a value before \"--verbose\"; a value that begins with - is written --limit=--verbose."
        ),
        ("list --limit 1 --limit 2", "--limit stands twice; give it once."),
        ("list --verbose=3", "--verbose takes no value; write it alone."),
        ("show", "ID is missing: the row's id. See \"ledger show --help\"."),
        ("show 1 2 3", "\"ledger show\" has no use for \"3\". See \"ledger show --help\"."),
        ("", "A verb is missing after \"ledger\"; see \"ledger --help\"."),
        ("dead", "A verb is missing after \"ledger dead\"; see \"ledger dead --help\"."),
        ("completion tcsh", "Name one shell: ledger completion bash, zsh or fish."),
        ("help lst", "There is no command \"lst\" to explain."),
        ("-- lst", "\"ledger\" has no verb \"lst\"; did you mean \"list\"? See \"ledger --help\"."),
    ])
    func `a wrong line is refused in one sentence`(line: String, sentence: String) {
        let error = #expect(throws: UsageError.self) { try parse(line) }
        #expect(error?.description == sentence)
        #expect(error?.exitCode == .usage)
    }

    @Test func `help is given at every level and on a wrong line too`() throws {
        #expect(try parse("--help") == ParsedCommand(wish: .help))
        #expect(try parse("-h").wish == .help)
        #expect(try parse("list --help") == ParsedCommand(path: ["list"], wish: .help))
        #expect(try parse("show --help").path == ["show"])
        #expect(try parse("dead retry -h").path == ["dead", "retry"])
        #expect(try parse("list --nonsense --help") == ParsedCommand(path: ["list"], wish: .help))
        #expect(
            try parse("help dead retry") == ParsedCommand(path: ["dead", "retry"], wish: .help))
        #expect(try parse("help").path == [])
        #expect(throws: Never.self) { try parse("list -- --help") }
        #expect(try parse("list -- --help").wish == .run)
    }

    @Test func `version, completion and manual are asked for at the top`() throws {
        #expect(try parse("--version").wish == .version)
        #expect(try parse("completion zsh").wish == .completion(.zsh))
        #expect(try parse("manual").wish == .manual)
        #expect(throws: UsageError.self) { try parse("list --version") }
    }

    @Test func `a program without verbs takes its arguments itself`() throws {
        let plain = CommandSpecification(
            name: "copy", summary: "copy a file",
            arguments: [ArgumentSpecification("FILE", help: "what to copy", repeats: true)])
        #expect(try plain.parse(["a", "b"]).allArguments("FILE") == ["a", "b"])
        #expect(throws: UsageError.self) { try plain.parse([]) }
        #expect(try plain.parse(["help"]).allArguments("FILE") == ["help"])
    }

    @Test func `exit codes are the documented ones`() {
        let codes: [ExitCode] = [
            .ok, .failed, .usage, .notFound, .diverged, .refused, .partly, .interrupted,
        ]
        #expect(codes.map(\.rawValue) == [0, 1, 2, 4, 5, 6, 7, 130])
    }
}
