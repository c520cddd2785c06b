/// The rules' text, cut into sentences: one ends at a full stop, question or exclamation mark before a
/// blank and a capital, a backtick, an asterisk, a quotation mark or a bracket.
enum Semantics {
    struct Sentence: Equatable {
        let id: String
        let text: String
    }

    static func sentences(of text: String) -> [Sentence] {
        rules(of: text).flatMap { rule in
            var prose = rule.lines.filter { !$0.hasPrefix("|") }.joined(separator: " ")
            let seen = cutSeen(from: &prose)
            let rows = rule.lines.filter { $0.hasPrefix("|") }.dropFirst(2)
            return cut(prose).enumerated().map {
                Sentence(id: "\(rule.name).\($0.offset + 1)", text: $0.element)
            }
                + rows.enumerated().map { row in
                    let cells = row.element.split(separator: "|").map { String($0.trimmed) }
                    return Sentence(
                        id: "\(rule.name).table\(row.offset + 1)",
                        text: words(cells.joined(separator: " ")))
                } + seen.map { Sentence(id: "\(rule.name).seen", text: $0) }
        }
    }

    private struct Rule {
        let name: String
        var lines: [Substring]
    }

    /// A rule begins with `**S7 Its title.**`; the title is no sentence.
    private static func rules(of text: String) -> [Rule] {
        var rules: [Rule] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("**S"), let end = line.dropFirst(2).firstRange(of: "**") {
                let title = line[..<end.lowerBound].dropFirst(2)
                let name = title.prefix { $0 != " " }
                rules.append(Rule(name: String(name), lines: [line[end.upperBound...]]))
            } else if !rules.isEmpty {
                rules[rules.count - 1].lines.append(line)
            }
        }
        return rules
    }

    /// Takes `(Seen: …)` out of the prose.
    private static func cutSeen(from prose: inout String) -> [String] {
        var found: [String] = []
        while let start = prose.firstRange(of: "(Seen: "),
            let end = prose[start.upperBound...].firstIndex(of: ")")
        {
            found.append(words(String(prose[start.upperBound..<end])))
            prose.removeSubrange(start.lowerBound...end)
        }
        return found
    }

    private static func cut(_ prose: String) -> [String] {
        let letters = Array(prose)
        var sentences: [String] = []
        var start = 0
        for (place, letter) in letters.enumerated() where ".?!".contains(letter) {
            guard place + 1 < letters.count, letters[place + 1].isWhitespace else { continue }
            let next = letters[(place + 1)...].first { !$0.isWhitespace }
            guard let next, next.isUppercase && next.isASCII || "*`(“\"".contains(next) else {
                continue
            }
            sentences.append(words(String(letters[start...place])))
            start = place + 1
        }
        if start < letters.count { sentences.append(words(String(letters[start...]))) }
        return sentences.filter { !$0.isEmpty }
    }

    private static func words(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
