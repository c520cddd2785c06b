import CommandLine
import Glibc
import Locks
import Reactor
import TestSupport
import TimeZones

@testable import journey_replay

/// What a command said and how it ended.
struct Answer {
    var code: Int32
    var output: String
    var error: String
}

/// A terminal, environment and clock for commands that run in the test's process.
struct ReplayWorld: Sendable {
    var environment: [String: String] = [:]
    var now = instant("2026-03-02T12:00:00Z")
    /// Standard input.
    var lines: [String] = []
    var isInteractive = false
    /// What the person at the terminal types.
    var answer: String?

    func run(_ words: String...) async throws -> Answer { try await run(words) }

    func run(_ words: [String]) async throws -> Answer {
        let output = TextStream.memory()
        let error = TextStream.memory()
        let waiting = WaitingLines(lines)
        let (answer, now) = (answer, now)
        let terminal = Terminal(
            output: output, error: error, isInteractive: isInteractive, answers: { answer })
        let code = try await withEventLoop { loop in
            await ReplayCommand(
                terminal: terminal, environment: environment, loop: loop, now: { now },
                inputLine: { waiting.next() }
            ).run(words)
        }
        return Answer(code: code.rawValue, output: output.written, error: error.written)
    }
}

private final class WaitingLines: Sendable {
    private let rest: Guarded<ArraySlice<String>>

    init(_ lines: [String]) { rest = Guarded(lines[...]) }

    func next() -> String? { rest.withLock { $0.popFirst() } }
}

func instant(_ text: String) -> Instant { Instant(text) ?? .earliest }

/// Writes a file into a folder of the test, and returns its path.
@discardableResult
func write(_ text: String, to name: String, in folder: String) -> String {
    let path = folder + "/" + name
    var place = folder
    for part in name.split(separator: "/").dropLast() {
        place += "/" + part
        mkdir(place, 0o755)
    }
    guard let file = fopen(path, "w") else { return path }
    defer { fclose(file) }
    _ = fputs(text, file)
    return path
}
