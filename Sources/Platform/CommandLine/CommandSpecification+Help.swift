extension CommandSpecification {
    /// The help of the command at `path` (of this program when it is unknown), for standard output.
    ///
    /// - Parameter width: the line length to fold at, held within 40 and 120.
    package func help(path: [String] = [], width: Int = 80) -> String {
        let found = descend(path) ?? (self, options)
        let line = ([name] + path).joined(separator: " ")
        var page = HelpPage(width: min(max(width, 40), 120))
        page.paragraph(found.command.summary + ".")
        page.section("Usage")
        page.row(found.command.usage(line: line, hasOptions: !found.options.isEmpty))
        for paragraph in found.command.discussion.paragraphs {
            page.text += "\n"
            page.paragraph(paragraph)
        }
        page.table("Arguments", found.command.arguments.map { ($0.usage, $0.help) })
        var verbs = found.command.subcommands.map { ($0.name, $0.summary) }
        if path.isEmpty, !verbs.isEmpty {
            verbs.append(("help VERB", "explain a verb"))
            verbs.append(("completion SHELL", "print a completion script for bash, zsh or fish"))
            verbs.append(("manual", "print the manual page"))
        }
        page.table("Verbs", verbs)
        var options = found.options.map { ($0.usage, $0.helpWithChoices) }
        options.append(("-h, --help", "show this help"))
        if path.isEmpty { options.append(("--version", "show the version")) }
        page.table("Options", options)
        if !found.command.examples.isEmpty {
            page.section("Examples")
            for example in found.command.examples {
                page.folded(example.purpose + ":", indent: 2)
                // An example is never folded, so that it can be copied.
                page.text += "    \(example.line)\n"
            }
        }
        return page.text
    }

    /// `journey-replay show [OPTIONS] RUN`.
    func usage(line: String, hasOptions: Bool) -> String {
        var parts = [line]
        if !subcommands.isEmpty { parts.append("VERB") }
        if hasOptions { parts.append("[OPTIONS]") }
        parts += arguments.map(\.usage)
        return parts.joined(separator: " ")
    }
}

extension OptionSpecification {
    var helpWithChoices: String {
        choices.isEmpty ? help : help + " (" + choices.joined(separator: ", ") + ")"
    }
}

extension String {
    /// Texts between empty lines, each on one line.
    var paragraphs: [String] {
        var found: [String] = [""]
        for line in split(separator: "\n", omittingEmptySubsequences: false) {
            let words = line.split(separator: " ").joined(separator: " ")
            if words.isEmpty {
                found.append("")
            } else {
                let last = found.removeLast()
                found.append(last.isEmpty ? words : last + " " + words)
            }
        }
        return found.filter { !$0.isEmpty }
    }
}

/// Lays out the parts of a help text.
private struct HelpPage {
    var text = ""
    let width: Int

    init(width: Int) { self.width = width }

    mutating func section(_ title: String) { text += "\n\(title):\n" }

    mutating func row(_ line: String) { folded(line, indent: 2) }

    mutating func paragraph(_ line: String) { folded(line, indent: 0) }

    /// Two columns, the right one folded; a long left part gets a line of its own.
    mutating func table(_ title: String, _ rows: [(String, String)]) {
        guard !rows.isEmpty else { return }
        section(title)
        let left = min(rows.map(\.0.count).max() ?? 0, width / 3)
        for (name, explanation) in rows {
            let start = "  " + name
            let indent = left + 4
            if name.count > left {
                text += start + "\n"
                folded(explanation, indent: indent)
            } else {
                let padding = String(repeating: " ", count: indent - start.count)
                folded(explanation, indent: indent, first: start + padding)
            }
        }
    }

    /// Words folded at the width, each line indented.
    mutating func folded(_ line: String, indent: Int, first: String? = nil) {
        let margin = String(repeating: " ", count: indent)
        var current = first ?? margin
        var isEmpty = true
        for word in line.split(separator: " ") {
            if !isEmpty, current.count + 1 + word.count > width {
                text += current + "\n"
                current = margin
                isEmpty = true
            }
            current += (isEmpty ? "" : " ") + word
            isEmpty = false
        }
        text += current + "\n"
    }
}
