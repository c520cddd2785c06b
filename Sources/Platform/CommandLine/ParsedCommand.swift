/// What a command line asks for.
package struct ParsedCommand: Sendable, Hashable {
    /// What is wanted of the command.
    package enum Wish: Sendable, Hashable {
        /// Its work.
        case run
        /// Its help, on standard output.
        case help
        /// The program's version.
        case version
        /// A completion script.
        case completion(Shell)
        /// The manual page, in roff.
        case manual
    }

    /// The verbs below the program's name; empty for the program itself.
    package var path: [String]
    /// What is wanted.
    package var wish: Wish
    /// Values by long name in the order of the line; a flag has one empty text each time it stands.
    package var options: [String: [String]]
    /// Words by the argument's name.
    package var arguments: [String: [String]]

    /// A command put together, for tests.
    package init(
        path: [String] = [], wish: Wish = .run, options: [String: [String]] = [:],
        arguments: [String: [String]] = [:]
    ) {
        self.path = path
        self.wish = wish
        self.options = options
        self.arguments = arguments
    }

    /// Whether the flag stands on the line.
    package func flag(_ long: String) -> Bool { options[long] != nil }

    /// The last value of an option, or nil.
    package func option(_ long: String) -> String? { options[long]?.last }

    /// All values of an option that repeats.
    package func all(_ long: String) -> [String] { options[long] ?? [] }

    /// The first word of an argument, or nil.
    package func argument(_ name: String) -> String? { arguments[name]?.first }

    /// All words of an argument that repeats.
    package func allArguments(_ name: String) -> [String] { arguments[name] ?? [] }

    /// The value of an option as a whole number within `range`, or nil when it does not stand.
    package func integer(
        _ long: String, in range: ClosedRange<Int>
    ) throws(UsageError) -> Int? {
        guard let text = option(long) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw UsageError(
                path: path,
                "--\(long) needs a whole number from \(range.lowerBound) to \(range.upperBound), "
                    + "not \"\(text.prefix(64))\".")
        }
        return number
    }
}

/// A command line that cannot be understood; ends the program with ``ExitCode/usage``.
package struct UsageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The verbs that were understood, so that the right help can be named.
    package let path: [String]
    /// One sentence with the fact and the next step.
    package let sentence: String

    /// For faults that only the command itself can see, such as two options that exclude each other.
    package init(path: [String] = [], _ sentence: String) {
        self.path = path
        self.sentence = sentence
    }

    /// The sentence.
    package var description: String { sentence }
    /// Always ``ExitCode/usage``.
    package var exitCode: ExitCode { .usage }
}

/// A shell that completion scripts are made for.
package enum Shell: String, Sendable, Hashable, CaseIterable {
    case bash, zsh, fish
}
