import JSON
import TestMaterial

/// The page that the SDK keeps to, where it lies beside the package.
enum PageText {
    /// Nil, after a line that says so, where the page is absent.
    static func read(_ source: StaticString = #filePath) -> String? {
        var place = source.description[...]
        while let slash = place.lastIndex(of: "/") {
            place = place[..<slash]
            let path = place + "/shared/seed/features-and-entitlements.md"
            if let bytes = Conformance.bytes(of: String(path)) {
                return String(decoding: bytes, as: UTF8.self)
            }
        }
        print("page: not beside the package, its fragments and sentences are taken as they are")
        return nil
    }

    /// The text of a file of this package.
    static func file(_ path: String, _ source: StaticString = #filePath) -> String? {
        let parts = source.description.split(separator: "/", omittingEmptySubsequences: false)
        let root = parts.dropLast(5).joined(separator: "/")
        return Conformance.bytes(of: root + "/" + path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The Swift fragments by name, each with its lines.
    static func fragments(of page: String) -> [String: [String]] {
        var found: [String: [String]] = [:]
        var open: [String]?
        for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
            if line == "```swift" {
                open = []
            } else if line == "```", let lines = open {
                if let name = lines.first.flatMap(name(of:)) { found[name] = lines }
                open = nil
            } else {
                open?.append(String(line))
            }
        }
        return found
    }

    /// Fragments as files here hold them: from their marker to `// end of fragment`, less the indentation.
    static func written(in file: String) -> [String: [String]] {
        var found: [String: [String]] = [:]
        var open: (name: String, indent: Int, lines: [String])?
        for line in file.split(separator: "\n", omittingEmptySubsequences: false) {
            let indent = line.prefix { $0 == " " }.count
            let words = line.dropFirst(indent)
            if let name = name(of: String(words)) {
                open = (name, indent, [String(words)])
            } else if words == "// end of fragment", let fragment = open {
                found[fragment.name] = fragment.lines
                open = nil
            } else if let fragment = open {
                open?.lines.append(String(line.dropFirst(min(indent, fragment.indent))))
            }
        }
        return found.mapValues { lines in
            var lines = lines
            while lines.last == "" { lines.removeLast() }
            return lines
        }
    }

    /// The marker's name, such as `basic-feature-access`.
    private static func name(of line: String) -> String? {
        for mark in ["// nuxie-doc-fragment: ", "// nuxie-doc-snippet: "]
        where line.hasPrefix(mark) {
            return String(line.dropFirst(mark.count).prefix { $0 != " " })
        }
        return nil
    }

    /// Its sentences in order: of paragraphs, and of tables a row each; code, headings and front matter left
    /// out.
    static func sentences(of page: String) -> [String] {
        var sentences: [String] = []
        var isCode = false
        var fences = 0
        var row = 0
        for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
            if line == "---", fences < 2 {
                fences += 1
                continue
            }
            if line.hasPrefix("```") {
                isCode.toggle()
                continue
            }
            if isCode || fences == 1 { continue }
            guard line.hasPrefix("|") else {
                row = 0
                if line.isEmpty || line.hasPrefix("#") || line.hasPrefix("<") { continue }
                sentences += cut(String(line))
                continue
            }
            row += 1
            if row > 2 {
                let cells = line.split(separator: "|").map {
                    $0.split(separator: " ").joined(separator: " ")
                }
                sentences.append(cells.joined(separator: " "))
            }
        }
        return sentences
    }

    private static func cut(_ paragraph: String) -> [String] {
        let letters = Array(paragraph)
        var sentences: [String] = []
        var start = 0
        for (place, letter) in letters.enumerated() where ".!?:".contains(letter) {
            guard place + 2 < letters.count, letters[place + 1] == " " else { continue }
            let next = letters[place + 2]
            guard next.isUppercase || next == "`" || next == "*" else { continue }
            sentences.append(String(letters[start...place]))
            start = place + 2
        }
        sentences.append(String(letters[start...]))
        return sentences
    }
}
