import CommandLine
import Glibc
import Testing

@Suite struct TerminalTests {
    private func terminal(_ answer: String?, isInteractive: Bool = true) -> Terminal {
        Terminal(
            output: .memory(), error: .memory(), isInteractive: isInteractive, answers: { answer })
    }

    @Test(
        arguments: [
            ("y", true), ("YES", true), ("", false), ("no", false), ("yes please", false),
            (nil, false),
        ] as [(String?, Bool)])
    func `only a clear yes agrees`(answer: String?, agrees: Bool) {
        let terminal = terminal(answer)
        #expect(terminal.confirm("Really?") == agrees)
        #expect(terminal.error.written == "Really? [y/N] ")
        #expect(terminal.output.written.isEmpty)
    }

    @Test func `nobody is asked without a terminal`() {
        let terminal = terminal("y", isInteractive: false)
        #expect(!terminal.confirm("Really?"))
        #expect(terminal.error.written.isEmpty)
    }

    @Test func `help, version, completion and manual are answered`() throws {
        func answered(_ wish: ParsedCommand.Wish) -> String? {
            let terminal = terminal(nil)
            let command = ParsedCommand(wish: wish)
            return terminal.answer(command, of: program, version: "1.2")
                ? terminal.output.written : nil
        }
        #expect(answered(.run) == nil)
        #expect(answered(.version) == "ledger 1.2\n")
        #expect(answered(.help) == program.help())
        #expect(answered(.completion(.bash)) == program.completion(for: .bash))
        #expect(answered(.manual) == program.manual(version: "1.2"))
    }

    @Test func `a reader that goes away closes the stream quietly`() {
        signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[1]) }
        let stream = TextStream.descriptor(ends[1])
        stream.writeLine("heard")
        var bytes = [UInt8](repeating: 0, count: 16)
        #expect(read(ends[0], &bytes, 16) == 6)
        close(ends[0])
        #expect(!stream.isClosed)
        stream.writeLine("unheard")
        #expect(stream.isClosed)
        stream.writeLine("dropped")
        #expect(!stream.hasFailed)
    }

    @Test func `a result that could not be written is a failure`() {
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        defer { close(full) }
        for descriptor in [full, -1] {
            let error = TextStream.memory()
            let terminal = Terminal(output: .descriptor(descriptor), error: error)
            #expect(terminal.end(.ok, of: "ledger") == .ok)
            terminal.output.writeLine("lost")
            #expect(terminal.output.hasFailed)
            #expect(terminal.end(.ok, of: "ledger") == .failed)
            #expect(terminal.end(.notFound, of: "ledger") == .notFound)
            #expect(error.written.hasPrefix("ledger: the output could not be written: "))
        }
    }

    @Test func `control characters are shown, other text is kept`() {
        #expect(printable("a\u{1b}b\u{202e}c\u{9b}é日") == "a\\u{1b}b\\u{202e}c\\u{9b}é日")
    }

    @Test func `colours are off where NO_COLOR says so`() {
        let plain = Terminal.standard(environment: ["NO_COLOR": "1"])
        #expect(!plain.usesColour)
        #expect(plain.width >= 40)
    }
}
