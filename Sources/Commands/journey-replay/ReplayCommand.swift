package import CommandLine
internal import Configuration
package import Reactor
package import TimeZones

/// The administrator's command: everything it needs comes in, so that tests run it in their process.
package struct ReplayCommand: Sendable {
    /// Shown by `--version`.
    package static let version = "0.1.0"

    let terminal: Terminal
    let environment: [String: String]
    let loop: EventLoop
    let now: @Sendable () -> Instant
    let inputLine: @Sendable () -> String?

    /// - Parameters:
    ///   - environment: `DATABASE_URL`, and what a configuration's secrets and overrides name.
    ///   - loop: what database connections live on; ``run(_:)`` is called in a task of it.
    ///   - now: the clock of verbs that take `--at`, and of `since=2h`.
    ///   - inputLine: the next line of standard input, for the id `-`; nil at its end.
    package init(
        terminal: Terminal, environment: [String: String], loop: EventLoop,
        now: @escaping @Sendable () -> Instant, inputLine: @escaping @Sendable () -> String?
    ) {
        self.terminal = terminal
        self.environment = environment
        self.loop = loop
        self.now = now
        self.inputLine = inputLine
    }

    /// Runs one command line, the program's name left out.
    package func run(_ words: [String]) async -> ExitCode {
        terminal.end(await attempt(words), of: "journey-replay")
    }

    private func attempt(_ words: [String]) async -> ExitCode {
        do {
            let parsed = try CommandSpecification.replay.parse(words)
            if terminal.answer(parsed, of: .replay, version: Self.version) { return .ok }
            try await perform(parsed)
            return .ok
        } catch let error as ReplayFailure {
            if !error.sentence.isEmpty { say(error.sentence) }
            return error.code
        } catch let error as UsageError {
            say(error.sentence)
            return error.exitCode
        } catch let error as ConfigurationRejection {
            terminal.error.writeLine(printable(error.description, lines: true))
            return .usage
        } catch {
            say("\(error)")
            return .failed
        }
    }

    private func perform(_ parsed: ParsedCommand) async throws {
        let call = ReplayCall(command: self, parsed: parsed)
        switch parsed.path.joined(separator: " ") {
        case "validate": try call.validate()
        case "schema": try call.schema()
        case "vocabulary": call.vocabulary()
        case "simulate": try call.simulate()
        case "graph": try await call.graph()
        case "publish": try await call.publish()
        case "start": try await call.start()
        case "list": try await call.list()
        case "show": try await call.show()
        case "history": try await call.history()
        case "trace": try await call.trace()
        case "count": try await call.count()
        case "verify": try await call.verify()
        case "diff": try await call.diff()
        case "export": try await call.exportRuns()
        case "import": try call.importRuns()
        case "import-subscriptions": try await call.importSubscriptions()
        case "customer": try await call.customer()
        case "events": try await call.events()
        case "deliveries": try await call.deliveries()
        case "effects": try await call.effects()
        case "replay-deliveries": try await call.replayDeliveries()
        case "batches list": try await call.listBatches()
        case "batches show": try await call.showBatch()
        case "batches findings": try await call.findBatch()
        case "batches pause": try await call.pauseBatches()
        case "batches resume": try await call.resumeBatches()
        case "batches cancel": try await call.cancelBatches()
        case "alias": try await call.alias()
        case "audit": try await call.audit()
        case "cancel": try await call.cancel()
        case "retry": try await call.retry()
        case "dead list": try await call.listDead()
        case "dead retry": try await call.retryDead()
        case "dead discard": try await call.discardDead()
        case "try connector": try call.tryConnector()
        case "try condition": try call.tryCondition()
        case "try window": try call.tryWindow()
        case "try value": try call.tryValue()
        case "try template": try call.tryTemplate()
        case "try action": try await call.tryAction()
        default: throw ReplayFailure(.usage, "There is no such verb; see journey-replay --help.")
        }
    }

    /// A refusal or failure, one line on standard error.
    func say(_ sentence: String) {
        terminal.error.writeLine("journey-replay: \(printable(sentence))")
    }
}

/// One command line that wants to run.
struct ReplayCall: Sendable {
    let command: ReplayCommand
    let parsed: ParsedCommand

    var terminal: Terminal { command.terminal }
    var environment: [String: String] { command.environment }

    /// `-o`; the verb's own default when it does not stand.
    func format(default fallback: OutputFormat = .table) -> OutputFormat {
        OutputFormat.of(parsed, default: fallback)
    }

    /// The value of an option or argument that the specification requires.
    func required(_ option: String) throws(UsageError) -> String {
        guard let value = parsed.option(option) else {
            throw UsageError(
                path: parsed.path,
                "\(parsed.path.joined(separator: " ")) needs --\(option); see its --help.")
        }
        return value
    }

    /// `--at`, else the clock.
    func instant() throws(UsageError) -> Instant {
        guard let text = parsed.option("at") else { return command.now() }
        guard let instant = Instant(text) else {
            throw UsageError(
                path: parsed.path,
                "--at needs a time such as 2026-11-30T10:00:00Z, not \"\(text.prefix(64))\".")
        }
        return instant
    }
}

/// As CommandLine's ``printable(_:)``, line feeds kept.
func printable(_ text: String, lines: Bool) -> String {
    guard lines else { return printable(text) }
    return text.split(separator: "\n", omittingEmptySubsequences: false)
        .map { printable(String($0)) }.joined(separator: "\n")
}
