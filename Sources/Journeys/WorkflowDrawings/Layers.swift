/// Places the boxes of a drawing in rows: each below all that lead to it, lines that go back left out.
struct Layers {
    /// Rows from the top, each from left to right.
    private(set) var rows: [[String]]

    init(_ drawing: WorkflowDrawing) {
        let order = drawing.nodes.map(\.id)
        var next: [String: [String]] = [:]
        for line in drawing.lines { next[line.from, default: []].append(line.to) }
        let sorted = Self.sorted(from: WorkflowDrawing.entryID, next: next)
        let place = Dictionary(
            uniqueKeysWithValues: sorted.enumerated().map { ($0.element, $0.offset) })
        var depth: [String: Int] = [:]
        for id in sorted {
            for to in next[id] ?? [] where (place[to] ?? -1) > (place[id] ?? 0) {
                depth[to] = max(depth[to] ?? 0, (depth[id] ?? 0) + 1)
            }
        }
        let deepest = depth.values.max() ?? 0
        var rows = [[String]](repeating: [], count: deepest + 1)
        for id in order { rows[depth[id] ?? 0].append(id) }
        self.rows = rows
        untangle(drawing)
    }

    /// Every box after all that lead to it, but for lines that go back.
    private static func sorted(from start: String, next: [String: [String]]) -> [String] {
        var seen: Set<String> = [start]
        var finished: [String] = []
        var trail: [(id: String, taken: Int)] = [(start, 0)]
        while let (id, taken) = trail.last {
            let ways = next[id] ?? []
            guard taken < ways.count else {
                finished.append(id)
                trail.removeLast()
                continue
            }
            trail[trail.count - 1].taken = taken + 1
            if seen.insert(ways[taken]).inserted { trail.append((ways[taken], 0)) }
        }
        return finished.reversed()
    }

    /// Moves each box near the middle of those above that lead to it, so that fewer lines cross.
    private mutating func untangle(_ drawing: WorkflowDrawing) {
        let linesByEnd = Dictionary(grouping: drawing.lines, by: \.to)
        var place: [String: Double] = [:]
        for row in rows.indices {
            let wanted = rows[row].enumerated().map { offset, id -> (id: String, at: Double) in
                let above = (linesByEnd[id] ?? []).compactMap { place[$0.from] }
                let middle =
                    above.isEmpty ? Double(offset) : above.reduce(0, +) / Double(above.count)
                return (id, middle)
            }
            rows[row] = wanted.enumerated().sorted {
                ($0.element.at, $0.offset) < ($1.element.at, $1.offset)
            }.map(\.element.id)
            let middle = Double(rows[row].count - 1) / 2
            for (offset, id) in rows[row].enumerated() { place[id] = Double(offset) - middle }
        }
    }
}
