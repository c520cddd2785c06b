extension CommandSpecification {
    /// The manual page of the whole program, in roff's man macros.
    ///
    /// - Parameter version: printed at the foot, such as `1.2.0`.
    package func manual(version: String) -> String {
        var page = RoffPage()
        page.macro(".TH", [name.uppercased(), "1", "", "\(name) \(version)"])
        page.macro(".SH", ["NAME"])
        page.line("\(name) - \(summary)")
        page.macro(".SH", ["SYNOPSIS"])
        page.macro(".B", [usage(line: name, hasOptions: !options.isEmpty)])
        if !discussion.isEmpty {
            page.macro(".SH", ["DESCRIPTION"])
            page.paragraphs(discussion)
        }
        if !options.isEmpty {
            page.macro(".SH", ["OPTIONS"])
            page.options(options)
        }
        if !subcommands.isEmpty {
            page.macro(".SH", ["VERBS"])
            for verb in subcommands { verb.manual(line: name, into: &page) }
        }
        page.examples(examples)
        return page.text
    }

    private func manual(line: String, into page: inout RoffPage) {
        let line = line + " " + name
        page.macro(".SS", [usage(line: line, hasOptions: !options.isEmpty)])
        page.line(summary + ".")
        page.paragraphs(discussion)
        for argument in arguments { page.item(argument.usage, argument.help) }
        page.options(options)
        for example in examples {
            page.item(example.line, example.purpose)
        }
        for verb in subcommands { verb.manual(line: line, into: &page) }
    }
}

private struct RoffPage {
    var text = ""

    mutating func macro(_ name: String, _ arguments: [String] = []) {
        let quoted = arguments.map {
            "\"" + escaped($0).split(separator: "\"").joined(separator: "\\(dq") + "\""
        }
        text += ([name] + quoted).joined(separator: " ") + "\n"
    }

    mutating func line(_ line: String) {
        // A dot or apostrophe at the start would be a request.
        let start = line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" : ""
        text += start + escaped(line) + "\n"
    }

    mutating func paragraphs(_ body: String) {
        for paragraph in body.paragraphs {
            macro(".PP")
            line(paragraph)
        }
    }

    mutating func item(_ name: String, _ explanation: String) {
        macro(".TP")
        macro(".B", [name])
        line(explanation)
    }

    mutating func options(_ options: [OptionSpecification]) {
        for option in options { item(option.usage, option.helpWithChoices) }
    }

    mutating func examples(_ examples: [CommandSpecification.Example]) {
        guard !examples.isEmpty else { return }
        macro(".SH", ["EXAMPLES"])
        for example in examples { item(example.line, example.purpose) }
    }

    private func escaped(_ line: String) -> String {
        var text = ""
        for character in line {
            switch character {
            case "\\": text += "\\e"
            case "-": text += "\\-"
            case "\n": text += " "
            default: text.append(character)
            }
        }
        return text
    }
}
