/// A command as data: parsing, help, completion and the manual page are all made from it.
package struct CommandSpecification: Sendable, Hashable {
    /// A command line worth showing, with what it does.
    package struct Example: Sendable, Hashable {
        /// What to type, the program's name included.
        package let line: String
        /// One sentence without full stop.
        package let purpose: String

        /// A line with what it does.
        package init(_ line: String, _ purpose: String) {
            self.line = line
            self.purpose = purpose
        }
    }

    /// The word that is typed: the program's name, or the verb.
    package var name: String
    /// One line, without full stop.
    package var summary: String
    /// Paragraphs for the help, split by empty lines; may be empty.
    package var discussion: String
    /// Shown at the end of the help, never folded.
    package var examples: [Example]
    /// Options of this command; those of the commands above apply here too.
    package var options: [OptionSpecification]
    /// Positions in order. Only the last may repeat, and none required may follow an optional one.
    package var arguments: [ArgumentSpecification]
    /// Verbs; a command with verbs has no arguments.
    package var subcommands: [CommandSpecification]

    /// A command; one that could not be parsed without doubt is a wrong program and traps.
    package init(
        name: String, summary: String, discussion: String = "", examples: [Example] = [],
        options: [OptionSpecification] = [], arguments: [ArgumentSpecification] = [],
        subcommands: [CommandSpecification] = []
    ) {
        precondition(
            arguments.isEmpty || subcommands.isEmpty,
            "the command \(name) has verbs and arguments; a word could be either")
        precondition(
            arguments.dropLast().allSatisfy { !$0.repeats },
            "only the last argument of \(name) may repeat")
        precondition(
            zip(arguments, arguments.dropFirst()).allSatisfy { $0.isRequired || !$1.isRequired },
            "a required argument of \(name) follows an optional one")
        self.name = name
        self.summary = summary
        self.discussion = discussion
        self.examples = examples
        self.options = options
        self.arguments = arguments
        self.subcommands = subcommands
    }

    /// The command at the end of a path of verbs, with the options that apply to it; nil when there
    /// is none.
    func descend(_ path: [String]) -> (
        command: CommandSpecification, options: [OptionSpecification]
    )? {
        var command = self
        var options = self.options
        for verb in path {
            guard let next = command.subcommands.first(where: { $0.name == verb }) else {
                return nil
            }
            command = next
            options += next.options
        }
        return (command, options)
    }
}

/// An option: a flag, or one that takes a value.
package struct OptionSpecification: Sendable, Hashable {
    /// Typed after `--`.
    package var long: String
    /// Typed after `-`; one ASCII letter but h.
    package var short: Character?
    /// What the help calls the value, such as `FILE`; nil for a flag.
    package var valueName: String?
    /// The only values admitted; empty admits any.
    package var choices: [String]
    /// One line for the help, without full stop.
    package var help: String
    /// Whether it may stand more than once.
    package var repeats: Bool

    /// An option; a flag when it has no `valueName`.
    package init(
        _ long: String, short: Character? = nil, valueName: String? = nil, choices: [String] = [],
        help: String, repeats: Bool = false
    ) {
        precondition(
            short.map { $0.isASCII && $0.isLetter && $0 != "h" } ?? true,
            "the short form of --\(long) is no ASCII letter, or is h, which asks for help")
        self.long = long
        self.short = short
        self.valueName = valueName
        self.choices = choices
        self.help = help
        self.repeats = repeats
    }

    /// `-o, --output FORMAT`.
    var usage: String {
        let name = (short.map { "-\($0), " } ?? "") + "--" + long
        return valueName.map { "\(name) \($0)" } ?? name
    }
}

/// A word that is given by its position.
package struct ArgumentSpecification: Sendable, Hashable {
    /// What the help calls it, such as `RUN`.
    package var name: String
    /// One line for the help, without full stop.
    package var help: String
    /// Whether the line is refused without it.
    package var isRequired: Bool
    /// Whether it takes all words that are left.
    package var repeats: Bool

    /// An argument.
    package init(_ name: String, help: String, isRequired: Bool = true, repeats: Bool = false) {
        self.name = name
        self.help = help
        self.isRequired = isRequired
        self.repeats = repeats
    }

    /// `RUN`, `[RUN]`, `FILE...`.
    var usage: String {
        let name = repeats ? name + "..." : name
        return isRequired ? name : "[\(name)]"
    }
}
