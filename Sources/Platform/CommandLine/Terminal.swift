internal import Glibc

/// The three standard streams of a command, and what may be printed on them.
package struct Terminal: Sendable {
    /// Results; nothing else, so that it can be piped.
    package let output: TextStream
    /// Everything else: targets, questions, progress, refusals.
    package let error: TextStream
    /// Whether questions can be asked: standard input and error are both a terminal.
    package let isInteractive: Bool
    /// Whether the output may be coloured: it is a terminal and `NO_COLOR` is not set.
    package let usesColour: Bool
    /// Columns to fold at; 80 when the output is no terminal.
    package let width: Int

    private let answers: @Sendable () -> String?

    /// The process's own streams; to be called before anything is opened. Also has the process ignore
    /// SIGPIPE, so that a reader that goes away ends a write instead of the process.
    package static func standard(environment: [String: String]) -> Terminal {
        signal(SIGPIPE, SIG_IGN)
        occupyStandardDescriptors()
        let isOutputTerminal = isatty(STDOUT_FILENO) == 1
        var size = winsize()
        let hasSize = isOutputTerminal && ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0
        let isPlain = !(environment["NO_COLOR"] ?? "").isEmpty || environment["TERM"] == "dumb"
        return Terminal(
            output: .descriptor(STDOUT_FILENO), error: .descriptor(STDERR_FILENO),
            isInteractive: isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1,
            usesColour: isOutputTerminal && !isPlain,
            width: hasSize && size.ws_col >= 40 ? Int(size.ws_col) : 80,
            answers: { readLine(strippingNewline: true) })
    }

    /// Gives descriptors that came closed something that takes no writes: otherwise the next file or
    /// connection that is opened would be written to as the output.
    private static func occupyStandardDescriptors() {
        for number in STDIN_FILENO...STDERR_FILENO
        where fcntl(number, F_GETFD) < 0 && errno == EBADF {
            _ = open("/dev/null", O_RDONLY)
        }
    }

    /// A terminal made of parts, for tests.
    ///
    /// - Parameter answers: gives one line for each question; nil is the end of input.
    package init(
        output: TextStream, error: TextStream, isInteractive: Bool = false,
        usesColour: Bool = false,
        width: Int = 80, answers: @escaping @Sendable () -> String? = { nil }
    ) {
        self.output = output
        self.error = error
        self.isInteractive = isInteractive
        self.usesColour = usesColour
        self.width = width
        self.answers = answers
    }

    /// Asks on standard error and waits for a line; only `y` and `yes`, in any case, agree. Without a
    /// person at the terminal the answer is no.
    package func confirm(_ question: String) -> Bool {
        guard isInteractive else { return false }
        error.write(question + " [y/N] ")
        guard let answer = answers() else { return false }
        return ["y", "yes"].contains(answer.lowercased())
    }

    /// Prints what `command` wishes besides its run: help, version, completion, manual. Returns false,
    /// having printed nothing, when the command wants to run.
    package func answer(
        _ command: ParsedCommand, of program: CommandSpecification, version: String
    ) -> Bool {
        switch command.wish {
        case .run: return false
        case .help: output.write(program.help(path: command.path, width: width))
        case .version: output.writeLine("\(program.name) \(version)")
        case .completion(let shell): output.write(program.completion(for: shell))
        case .manual: output.write(program.manual(version: version))
        }
        return true
    }

    /// The status to end with: ``ExitCode/failed`` in place of ``ExitCode/ok`` when results could not be
    /// written, which is then said on standard error. A reader that went away is no failure.
    package func end(_ code: ExitCode, of program: String) -> ExitCode {
        guard let reason = output.failure else { return code }
        error.writeLine(
            "\(program): the output could not be written: \(reason); make room or write elsewhere, "
                + "and run it again.")
        return code == .ok ? .failed : code
    }
}
