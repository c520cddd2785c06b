import CommandLine
import Testing

@testable import journey_replay

@Suite struct HelpTests {
    /// Every path of verbs with its command.
    private static let commands: [([String], CommandSpecification)] = {
        var found: [([String], CommandSpecification)] = []
        func walk(_ command: CommandSpecification, _ path: [String]) {
            found.append((path, command))
            for next in command.subcommands { walk(next, path + [next.name]) }
        }
        walk(.replay, [])
        return found
    }()

    @Test func `every verb has examples that the command line understands`() throws {
        for (path, command) in Self.commands {
            #expect(!command.examples.isEmpty, "\(path)")
            for example in command.examples {
                // What runs before or after a pipe is another program's business, a file the shell's.
                let mine = example.line.split { $0 == "|" || $0 == ">" }.map(Self.words)
                let words = try #require(mine.first { $0.first == "journey-replay" })
                let parsed = try CommandSpecification.replay.parse(Array(words.dropFirst()))
                #expect(parsed.wish == .run)
                #expect(parsed.path.starts(with: path), "\(example.line) explains another verb")
            }
        }
    }

    /// As a shell splits a line: blanks inside quotes stay.
    private static func words(_ line: Substring) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        for character in line {
            if character == quote {
                quote = nil
            } else if quote == nil, character == "\"" || character == "'" {
                quote = character
                word = word ?? ""
            } else if quote == nil, character == " " {
                if let word { words.append(word) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        return words + (word.map { [$0] } ?? [])
    }

    @Test func `every help says usage, options and examples`() async throws {
        for (path, _) in Self.commands {
            let answer = try await ReplayWorld().run(path + ["--help"])
            #expect(answer.code == 0)
            #expect(answer.output.contains("Usage:\n  journey-replay"))
            #expect(answer.output.contains("Examples:"))
            #expect(answer.error.isEmpty)
        }
    }

    @Test func `the top help names every verb`() async throws {
        let answer = try await ReplayWorld().run("--help")
        for command in CommandSpecification.replay.subcommands {
            #expect(answer.output.contains("\n  \(command.name) "), "\(command.name)")
        }
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `completion knows the verbs`(shell: String) async throws {
        let answer = try await ReplayWorld().run("completion", shell)
        #expect(answer.code == 0)
        #expect(answer.output.contains("validate"))
    }

    @Test func `the manual page is roff`() async throws {
        let answer = try await ReplayWorld().run("manual")
        #expect(answer.output.hasPrefix(".TH"))
    }
}
