internal import CommandLine
internal import Glibc
internal import Reactor

/// The program `feature-server`: which part of it runs. What can be typed is in `FeatureSpecification`.
enum FeatureProgram {
    static let version = "0.1.0"
    static let name = "feature-server"

    static func run(words: [String]) -> Int32 {
        let environment = Environment.all
        let terminal = Terminal.standard(environment: environment)
        // Before any thread starts, so that all of them leave these signals to the watch.
        let signals = SignalWatch([SIGTERM, SIGINT])
        let command: ParsedCommand
        do throws(UsageError) {
            command = try specification.parse(words)
        } catch {
            terminal.error.writeLine("\(name): \(error.sentence)")
            return error.exitCode.rawValue
        }
        if terminal.answer(command, of: specification, version: version) {
            return terminal.end(.ok, of: name).rawValue
        }
        let context = CommandContext(
            command: command, terminal: terminal, environment: environment, signals: signals)
        return terminal.end(run(context), of: name).rawValue
    }

    private static func run(_ context: CommandContext) -> ExitCode {
        do {
            switch context.command.path.first {
            case "serve": return try ServeCommand(context: context).run()
            case "dev": return try DevCommand(context: context).run()
            case "migrate": return try MigrateCommand(context: context).run()
            case "check-config": return try ServeCommand(context: context).check()
            case "publish": return try PublishCommand(context: context).run()
            case "show": return try CustomerCommands(context: context).show()
            case "grant": return try CustomerCommands(context: context).grant()
            case "revoke": return try CustomerCommands(context: context).revoke()
            case "forget": return try CustomerCommands(context: context).forget()
            case "check": return try LedgerCommands(context: context).check()
            case "rebuild": return try LedgerCommands(context: context).rebuild()
            default:
                // The parser lets no other path through.
                return .usage
            }
        } catch let failure as CommandFailure {
            if !failure.sentence.isEmpty { context.say(failure.sentence) }
            return failure.code
        } catch let error as UsageError {
            context.say(error.sentence)
            return error.exitCode
        } catch {
            context.say("\(error)")
            return .failed
        }
    }
}

/// Why a verb ends with another status than 0.
struct CommandFailure: Error, Sendable {
    let code: ExitCode
    /// One sentence with the fact and the next step; empty when the output has said it already.
    let sentence: String

    init(_ code: ExitCode, _ sentence: String) {
        self.code = code
        self.sentence = sentence
    }
}

/// The process's environment.
enum Environment {
    static var all: [String: String] {
        var found: [String: String] = [:]
        var place = environ
        while let entry = place.pointee {
            let text = String(cString: entry)
            if let split = text.firstIndex(of: "=") {
                found[String(text[..<split])] = String(text[text.index(after: split)...])
            }
            place += 1
        }
        return found
    }
}
