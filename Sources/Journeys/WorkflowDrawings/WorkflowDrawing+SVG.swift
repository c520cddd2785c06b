// The picture: boxes in rows, lines as curves, colours that follow the reader's light or dark.

extension WorkflowDrawing {
    private enum Measure {
        static let width = 260
        static let height = 62
        static let across = 40
        static let down = 74
        static let margin = 24
        /// Letters of a box's second line, about; what is longer is cut and stands in the tooltip.
        static let letters = 42
    }

    private struct Spot {
        let x: Int
        let y: Int
        var middle: Int { x + Measure.width / 2 }
    }

    var svg: String {
        let layers = Layers(self)
        let widest = layers.rows.map(\.count).max() ?? 1
        let step = Measure.width + Measure.across
        let width = widest * step - Measure.across + 2 * Measure.margin
        let top = Measure.margin + 24 + rules.count * 16
        var spots: [String: Spot] = [:]
        for (row, ids) in layers.rows.enumerated() {
            let used = ids.count * step - Measure.across
            for (column, id) in ids.enumerated() {
                spots[id] = Spot(
                    x: (width - used) / 2 + column * step,
                    y: top + row * (Measure.height + Measure.down))
            }
        }
        let height =
            top + layers.rows.count * (Measure.height + Measure.down) - Measure.down
            + Measure.margin
        var out = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(height)\" "
                + "viewBox=\"0 0 \(width) \(height)\" role=\"img\">",
            "<title>\(xml(title))</title>", Self.style,
            "<text class=\"title\" x=\"\(Measure.margin)\" y=\"28\">\(xml(title))</text>",
        ]
        for (number, rule) in rules.enumerated() {
            out.append(
                "<text class=\"rule\" x=\"\(Measure.margin)\" y=\"\(48 + number * 16)\">"
                    + "\(xml(rule))</text>")
        }
        out += curves(spots)
        out += nodes.compactMap { node in spots[node.id].map { box(node, at: $0) } }
        return (out + ["</svg>"]).map { $0 + "\n" }.joined()
    }

    private static let style = """
        <style>
        svg{font-family:system-ui,sans-serif;background:#fff;color:#1d2330}
        text{fill:#1d2330;font-size:12px}.title{font-size:16px;font-weight:600}
        .rule,.words{fill:#5a6475}.name{font-weight:600}.label{font-size:11px;fill:#5a6475}
        rect{stroke-width:1.5;fill:#fff}.entry{stroke:#2f6fde}.waiting{stroke:#b7791f}
        .deciding{stroke:#7a4fd0}.acting{stroke:#1f8a5b}.ending{stroke:#8a93a3}
        path{fill:none;stroke:#9aa4b5;stroke-width:1.3}
        @media (prefers-color-scheme:dark){svg{background:#14181f}text{fill:#e6e9ef}
        .rule,.words,.label{fill:#9aa4b5}rect{fill:#1c222c}}
        </style>
        <defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" \
        markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8" style="stroke:#9aa4b5"/></marker></defs>
        """

    private func box(_ node: Node, at spot: Spot) -> String {
        let words = node.caption
        let shown =
            words.count > Measure.letters ? words.prefix(Measure.letters - 1) + "…" : words[...]
        let radius = node.kind == .ending ? 30 : 8
        return
            "<g><title>\(xml([node.title, words, node.note].compactMap { $0 }.joined(separator: "\n")))"
            + "</title><rect class=\"\(node.kind)\" x=\"\(spot.x)\" y=\"\(spot.y)\" "
            + "width=\"\(Measure.width)\" height=\"\(Measure.height)\" rx=\"\(radius)\"/>"
            + "<text class=\"name\" x=\"\(spot.middle)\" y=\"\(spot.y + 26)\" "
            + "text-anchor=\"middle\">\(xml(node.title))</text>"
            + "<text class=\"words\" x=\"\(spot.middle)\" y=\"\(spot.y + 45)\" "
            + "text-anchor=\"middle\">\(xml(String(shown)))</text></g>"
    }

    /// A line leaves its box at the bottom, each outlet at a place of its own, and arrives at the top;
    /// one that goes back bends around the side.
    private func curves(_ spots: [String: Spot]) -> [String] {
        var drawn: [String] = []
        for node in nodes {
            let out = lines(from: node.id)
            for (number, line) in out.enumerated() {
                guard let from = spots[node.id], let to = spots[line.to] else { continue }
                let x = from.x + Measure.width * (number + 1) / (out.count + 1)
                let y = from.y + Measure.height
                let isForward = to.y > from.y
                let bend = isForward ? max((to.y - y) / 2, 24) : 60
                let arrive = isForward ? to.y - bend : to.y - 40
                let side = isForward ? 0 : (to.middle >= x ? 1 : -1) * Measure.width / 2
                drawn.append(
                    "<path d=\"M\(x),\(y) C\(x + side),\(y + bend) \(to.middle + side),\(arrive) "
                        + "\(to.middle),\(to.y - 1)\" marker-end=\"url(#tip)\"/>")
                guard !line.label.isEmpty else { continue }
                drawn.append(
                    "<text class=\"label\" x=\"\(x)\" y=\"\(y + 14 + 13 * (number % 2))\" "
                        + "text-anchor=\"middle\">\(xml(line.label))</text>")
            }
        }
        return drawn
    }

    private func xml(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            .replacing(">", with: "&gt;").replacing("\"", with: "&quot;")
    }
}
