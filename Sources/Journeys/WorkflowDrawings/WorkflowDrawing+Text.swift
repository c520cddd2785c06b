// The forms that are read as text: a tree, Graphviz, Mermaid.

extension WorkflowDrawing {
    var ascii: String {
        var out = [title] + rules.map { "  \($0)" } + [""]
        var drawn: Set<String> = []
        let byID = Dictionary(uniqueKeysWithValues: nodes.map { ($0.id, $0) })
        // Steps still to draw, the next one last: a deep definition takes no stack.
        var ahead = [
            Branching(line: Line(from: "", to: Self.entryID, label: ""), stem: "", tail: "")
        ]
        while let branching = ahead.popLast() {
            let line = branching.line
            guard let node = byID[line.to] else { continue }
            let arrow = line.label.isEmpty ? "" : "\(line.label) -> "
            guard node.kind != .ending || node.id != Self.endID else {
                out.append(branching.stem + arrow + "end")
                continue
            }
            guard drawn.insert(node.id).inserted else {
                out.append(branching.stem + arrow + "\(node.title) (above)")
                continue
            }
            let words = node.caption.replacing("·", with: "-")
            out.append(branching.stem + arrow + "\(node.title): \(words)")
            let next = lines(from: node.id)
            for (offset, line) in next.enumerated().reversed() {
                // The one way on goes straight down, as people read.
                let isStraight = next.count == 1
                let isLast = offset == next.count - 1
                ahead.append(
                    Branching(
                        line: line, stem: branching.tail + (isStraight ? "" : "+- "),
                        tail: branching.tail + (isStraight ? "" : isLast ? "   " : "|  ")))
            }
        }
        return out.map { $0 + "\n" }.joined()
    }

    /// A line of the tree still to be drawn, with what stands before it and before what follows it.
    private struct Branching {
        let line: Line
        let stem: String
        let tail: String
    }

    var dot: String {
        var out = [
            "digraph \(quoted(title)) {", "  rankdir=TB;",
            "  node [shape=box, style=rounded, fontname=\"sans-serif\"];",
            "  label=\(quoted(([title] + rules).joined(separator: "\n")));",
        ]
        for node in nodes {
            let shape =
                switch node.kind {
                case .entry: "invhouse"
                case .waiting, .acting: "box"
                case .deciding: "diamond"
                case .ending: "oval"
                }
            out.append(
                "  \(quoted(node.id)) [shape=\(shape), label="
                    + "\(quoted(node.title + "\n" + node.caption))];")
        }
        for line in lines {
            let label = line.label.isEmpty ? "" : " [label=\(quoted(line.label))]"
            out.append("  \(quoted(line.from)) -> \(quoted(line.to))\(label);")
        }
        return out.map { $0 + "\n" }.joined() + "}\n"
    }

    private func quoted(_ text: String) -> String {
        "\""
            + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            .replacing("\n", with: "\\n") + "\""
    }

    var mermaid: String {
        var out = ["---", "title: \(mermaidText(title))", "---", "flowchart TD"]
        var names: [String: String] = [:]
        for (number, node) in nodes.enumerated() {
            let name = "n\(number)"
            names[node.id] = name
            let words = "\"\(mermaidText(node.title))<br/>\(mermaidText(node.caption))\""
            let box =
                switch node.kind {
                case .entry: "[/\(words)\\]"
                case .waiting: "(\(words))"
                case .deciding: "{\(words)}"
                case .acting: "[\(words)]"
                case .ending: "([\(words)])"
                }
            out.append("  \(name)\(box)")
        }
        for line in lines {
            guard let from = names[line.from], let to = names[line.to] else { continue }
            let label = line.label.isEmpty ? "" : "|\"\(mermaidText(line.label))\"|"
            out.append("  \(from) -->\(label) \(to)")
        }
        return out.map { $0 + "\n" }.joined()
    }

    /// Mermaid has no escapes inside quotation marks but entities.
    private func mermaidText(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("\"", with: "&quot;")
            .replacing("<", with: "&lt;").replacing(">", with: "&gt;").replacing("#", with: "&num;")
    }
}
