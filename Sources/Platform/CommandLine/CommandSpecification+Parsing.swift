internal import JSON

extension CommandSpecification {
    /// Understands a command line.
    ///
    /// Options may stand anywhere after the command they belong to, as `--name value`, `--name=value`,
    /// `-n value` or `-nvalue`; flags may be joined, `-vq`. `--` ends them. A word such as `-5` is a
    /// value where a value is wanted, and `-` always is a word. `--help` works at every level and needs
    /// no other word to be right; `--version`, `help`, `completion SHELL` and `manual` at the top.
    ///
    /// - Parameter words: without the program's name.
    package func parse(_ words: [String]) throws(UsageError) -> ParsedCommand {
        var reading = CommandLineReading(root: self, words: words)
        do {
            return try reading.parse()
        } catch {
            // Someone who asks for help gets it, also when the rest of the line is wrong.
            guard
                words.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }
                )
            else { throw error }
            return ParsedCommand(path: error.path, wish: .help)
        }
    }

    /// Verbs every program has besides its own.
    static let builtIn = ["completion", "help", "manual"]
}

private struct CommandLineReading {
    private var command: CommandSpecification
    private var visible: [OptionSpecification]
    private var parsed = ParsedCommand()
    private var rest: ArraySlice<String>
    private var words: [String] = []
    private let root: CommandSpecification

    init(root: CommandSpecification, words: [String]) {
        self.root = root
        command = root
        visible = root.options
        rest = words[...]
    }

    mutating func parse() throws(UsageError) -> ParsedCommand {
        while let word = rest.popFirst() {
            if word == "--" {
                words += rest
                break
            }
            if word == "--help" || word == "-h" {
                parsed.wish = .help
            } else if word == "--version", parsed.path.isEmpty {
                parsed.wish = .version
            } else if word.hasPrefix("--") {
                try takeLong(word)
            } else if word.hasPrefix("-"), word != "-", !isNumber(word) {
                try takeShort(word)
            } else if command.subcommands.isEmpty {
                words.append(word)
            } else if let wish = try takeVerb(word) {
                return wish
            }
        }
        if parsed.wish != .run { return ParsedCommand(path: parsed.path, wish: parsed.wish) }
        if let word = words.first, !command.subcommands.isEmpty { _ = try takeVerb(word) }
        guard command.subcommands.isEmpty else {
            throw refusal("A verb is missing after \"\(line)\"; see \"\(line) --help\".")
        }
        try takeArguments()
        return parsed
    }

    /// Goes down to a verb; answers at once for the verbs every program has.
    private mutating func takeVerb(_ word: String) throws(UsageError) -> ParsedCommand? {
        if let next = command.subcommands.first(where: { $0.name == word }) {
            command = next
            visible += next.options
            parsed.path.append(word)
            return nil
        }
        let isTop = parsed.path.isEmpty
        if isTop, word == "help" {
            guard root.descend(Array(rest)) != nil else {
                throw refusal("There is no command \"\(rest.joined(separator: " "))\" to explain.")
            }
            return ParsedCommand(path: Array(rest), wish: .help)
        }
        if isTop, word == "manual" { return ParsedCommand(wish: .manual) }
        if isTop, word == "completion" {
            guard rest.count == 1, let shell = rest.first.flatMap({ Shell(rawValue: $0) }) else {
                if rest.contains("--help") { return ParsedCommand(wish: .help) }
                throw refusal("Name one shell: \(root.name) completion bash, zsh or fish.")
            }
            return ParsedCommand(wish: .completion(shell))
        }
        let known = command.subcommands.map(\.name) + (isTop ? CommandSpecification.builtIn : [])
        throw refusal(
            "\"\(line)\" has no verb \"\(shown(word))\"" + Spelling.ending(for: word, among: known)
                + " See \"\(line) --help\".")
    }

    private mutating func takeLong(_ word: String) throws(UsageError) {
        let body = word.dropFirst(2)
        let name = String(body.prefix { $0 != "=" })
        let attached = body.count > name.count ? String(body.dropFirst(name.count + 1)) : nil
        guard let option = visible.last(where: { $0.long == name }) else {
            throw refusal(
                "\"\(line)\" has no option --\(shown(name))"
                    + Spelling.ending(for: name, among: visible.map(\.long) + ["help", "version"])
                    + " See \"\(line) --help\".")
        }
        guard option.valueName != nil else {
            if attached != nil { throw refusal("--\(name) takes no value; write it alone.") }
            return try note(option, "")
        }
        if let attached { return try note(option, attached) }
        try note(option, try value(for: option, typed: "--" + name))
    }

    private mutating func takeShort(_ word: String) throws(UsageError) {
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            guard let option = option(short: letter) else {
                throw refusal(
                    "\"\(line)\" has no option -\(letter); see \"\(line) --help\".")
            }
            guard option.valueName != nil else {
                try note(option, "")
                continue
            }
            let value =
                letters.isEmpty
                ? try value(for: option, typed: "-\(letter)")
                : String(letters.first == "=" ? letters.dropFirst() : letters)
            return try note(option, value)
        }
    }

    private func option(short letter: Character) -> OptionSpecification? {
        visible.last { $0.short == letter }
    }

    private mutating func value(
        for option: OptionSpecification, typed: String
    ) throws(UsageError) -> String {
        let name = option.valueName ?? "VALUE"
        guard let next = rest.first else {
            throw refusal("\(typed) needs a value: \(typed) \(name).")
        }
        if next.hasPrefix("-"), next != "-", !isNumber(next) {
            throw refusal(
                "\(typed) needs a value before \"\(shown(next))\"; a value that begins with - is "
                    + "written --\(option.long)=\(shown(next)).")
        }
        rest = rest.dropFirst()
        return next
    }

    private mutating func note(
        _ option: OptionSpecification, _ value: String
    ) throws(UsageError) {
        if !option.repeats, option.valueName != nil, parsed.options[option.long] != nil {
            throw refusal("--\(option.long) stands twice; give it once.")
        }
        if let name = option.valueName, value.isEmpty {
            throw refusal(
                "--\(option.long) needs a value that is not empty: --\(option.long) \(name).")
        }
        if !option.choices.isEmpty, !option.choices.contains(value) {
            throw refusal(
                "--\(option.long) takes \(option.choices.joined(separator: ", ")), not "
                    + "\"\(shown(value))\"" + Spelling.ending(for: value, among: option.choices))
        }
        parsed.options[option.long, default: []].append(value)
    }

    private mutating func takeArguments() throws(UsageError) {
        var left = words[...]
        for argument in command.arguments {
            if argument.repeats {
                if !left.isEmpty { parsed.arguments[argument.name] = Array(left) }
                left = []
            } else if let word = left.popFirst() {
                parsed.arguments[argument.name] = [word]
            }
            if argument.isRequired, parsed.arguments[argument.name] == nil {
                throw refusal(
                    "\(argument.name) is missing: \(argument.help). See \"\(line) --help\".")
            }
        }
        if let word = left.first {
            throw refusal(
                "\"\(line)\" has no use for \"\(shown(word))\". See \"\(line) --help\".")
        }
    }

    private var line: String { ([root.name] + parsed.path).joined(separator: " ") }

    private func refusal(_ sentence: String) -> UsageError {
        UsageError(path: parsed.path, sentence)
    }

    private func shown(_ word: String) -> String { String(word.prefix(64)) }

    /// `-5`, `-0.5`: a value, unless a short option is that digit, which none may be.
    private func isNumber(_ word: String) -> Bool {
        let second = word.utf8.dropFirst().first ?? 0
        return word.hasPrefix("-") && (48...57).contains(second) && Double(word) != nil
    }
}
