internal import CommandLine
internal import Glibc
internal import Reactor
internal import TimeZones

/// The command as a process: its streams, environment, clock, and what an interrupt does.
enum ReplayProcess {
    /// Runs the words of the command line.
    ///
    /// - Returns: the status to exit with.
    static func run() async -> Int32 {
        // An interrupt ends the process at once: a transaction that is cut off is rolled back by the
        // server, and a person at a prompt waits for nothing.
        signal(SIGINT) { _ in _exit(ExitCode.interrupted.rawValue) }
        let environment = environment()
        let terminal = Terminal.standard(environment: environment)
        let loop = EventLoop()
        let command = ReplayCommand(
            terminal: terminal, environment: environment, loop: loop,
            now: { ReplayProcess.now() }, inputLine: { readLine(strippingNewline: true) })
        let words = Array(Swift.CommandLine.arguments.dropFirst())
        let code = await loop.run { () async -> ExitCode in await command.run(words) }
        return code.rawValue
    }

    private static func environment() -> [String: String] {
        var found: [String: String] = [:]
        var place = environ
        while let entry = place.pointee {
            let text = String(cString: entry)
            if let equals = text.firstIndex(of: "=") {
                found[String(text[..<equals])] = String(text[text.index(after: equals)...])
            }
            place += 1
        }
        return found
    }

    private static func now() -> Instant {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Instant(milliseconds: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
