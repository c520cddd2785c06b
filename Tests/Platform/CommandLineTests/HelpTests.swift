import CommandLine
import Testing

@Suite struct HelpTests {
    @Test func `the program's help names verbs, options and examples`() {
        #expect(
            program.help() == """
                keep an account of things.

                Usage:
                  ledger VERB [OPTIONS]

                First paragraph that is long enough to be folded at the width of a page of
                eighty columns.

                Second paragraph.

                Verbs:
                  list              list rows
                  show              show a row
                  dead              work on dead rows
                  help VERB         explain a verb
                  completion SHELL  print a completion script for bash, zsh or fish
                  manual            print the manual page

                Options:
                  --database URL  where the rows are
                  -v, --verbose   say more
                  -q, --quiet     say less
                  -h, --help      show this help
                  --version       show the version

                Examples:
                  list everything:
                    ledger list -o json

                """)
    }

    @Test func `a verb's help holds the options above it and no line is too long`() {
        let help = program.help(path: ["list"])
        #expect(help.contains("ledger list [OPTIONS] [ID...]"))
        #expect(help.contains("--database URL"))
        #expect(help.contains("(table, json, jsonl, ids)"))
        for width in [20, 40, 80] {
            let lines = program.help(path: ["list"], width: width).split(separator: "\n")
            #expect(lines.allSatisfy { $0.count <= max(40, width) })
        }
        #expect(program.help(path: ["nowhere"]).contains("Verbs:"))
    }

    @Test func `completion scripts know every verb and option`() {
        for shell in Shell.allCases {
            let script = program.completion(for: shell)
            for word in ["dead retry", "where", "jsonl", "completion", "_ledger"] {
                #expect(script.contains(word), "\(shell) \(word)")
            }
        }
        #expect(
            program.completion(for: .bash).contains(
                #""dead retry") offered="--database --verbose --quiet --help""#))
        #expect(program.completion(for: .fish).contains(#"-d 'it\'s tried again'"#))
        #expect(
            program.completion(for: .fish).contains(
                "_ledger_at 'completion'\" -f -a 'bash zsh fish'"))
    }

    @Test func `the manual page is roff that no text can break`() {
        var odd = program
        odd.discussion = ".so /etc/passwd\n\n'x \\fB back\\slash \"quoted\""
        odd.subcommands[0].summary = "a \"quoted\" thing"
        let page = odd.manual(version: "1.2")
        #expect(
            page.hasPrefix(
                ".TH \"LEDGER\" \"1\" \"\" \"ledger 1.2\"\n.SH \"NAME\"\nledger \\- keep an account"
            ))
        #expect(page.contains("\n\\&.so /etc/passwd\n"))
        #expect(page.contains("\n\\&'x \\efB back\\eslash \"quoted\"\n"))
        #expect(page.contains(".SS \"ledger dead retry\""))
        #expect(page.contains(".B \"\\-\\-where TERM\"") || page.contains("\\-w, \\-\\-where TERM"))
    }
}
