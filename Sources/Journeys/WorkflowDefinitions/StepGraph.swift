internal import JourneyModel

/// Steps and outlets as a graph; every question is answered by loops, never by recursion, because a
/// hostile definition may be a thousand steps long.
struct StepGraph {
    typealias WrittenEdge = DefinitionReader.WrittenEdge

    private let edges: [WrittenEdge]
    private let outlets: [StepID: [Int]]

    init(edges: [WrittenEdge]) {
        self.edges = edges
        var outlets: [StepID: [Int]] = [:]
        for (index, edge) in edges.enumerated() { outlets[edge.from, default: []].append(index) }
        self.outlets = outlets
    }

    private func target(_ index: Int) -> StepID? {
        switch edges[index].to {
        case .step(let id): id
        case .end: nil
        }
    }

    /// Every step that can be reached, each where a walk along the outlets first meets it.
    func walk(from start: StepID) -> [StepID] {
        var order: [StepID] = []
        var seen: Set<StepID> = []
        var pending = [start]
        while let id = pending.popLast() {
            guard seen.insert(id).inserted else { continue }
            order.append(id)
            pending += (outlets[id] ?? []).compactMap { target($0) }.reversed()
        }
        return order
    }

    /// One closing edge for each cycle that passes none of `pacing`, with the steps of the cycle.
    func cycles(
        from start: StepID, without pacing: Set<StepID>
    ) -> [(edge: WrittenEdge, steps: [StepID])] {
        var found: [(edge: WrittenEdge, steps: [StepID])] = []
        var finished: Set<StepID> = []
        // A cycle without a pacing step lies wholly among the others, so each of them is a root.
        for root in walk(from: start) where !pacing.contains(root) {
            guard !finished.contains(root) else { continue }
            var path: [(id: StepID, next: Int)] = [(root, 0)]
            var depthOf: [StepID: Int] = [root: 0]
            while let (id, next) = path.last {
                let indexes = outlets[id] ?? []
                guard next < indexes.count else {
                    path.removeLast()
                    depthOf[id] = nil
                    finished.insert(id)
                    continue
                }
                path[path.count - 1].next += 1
                guard let step = target(indexes[next]), !pacing.contains(step) else { continue }
                if let depth = depthOf[step] {
                    found.append((edges[indexes[next]], path[depth...].map(\.id)))
                } else if !finished.contains(step) {
                    depthOf[step] = path.count
                    path.append((step, 0))
                }
            }
        }
        return found
    }

    /// The longest literal time on a path from `start` that visits no step twice, with the edge
    /// that ends it.
    ///
    /// Edges that close a cycle are left out, so the answer is the length of a real path and never
    /// too long; a cycle's repetitions are bounded by the limits at run time.
    func longestPath(from start: StepID) -> (length: Duration, last: WrittenEdge)? {
        var closing: Set<Int> = []
        var order: [StepID] = []
        var path: [(id: StepID, next: Int)] = [(start, 0)]
        var isOnPath: Set<StepID> = [start]
        var seen: Set<StepID> = [start]
        while let (id, next) = path.last {
            let indexes = outlets[id] ?? []
            guard next < indexes.count else {
                path.removeLast()
                isOnPath.remove(id)
                order.append(id)
                continue
            }
            path[path.count - 1].next += 1
            guard let step = target(indexes[next]) else { continue }
            if isOnPath.contains(step) {
                closing.insert(indexes[next])
            } else if seen.insert(step).inserted {
                isOnPath.insert(step)
                path.append((step, 0))
            }
        }
        var lengths: [StepID: Duration] = [start: .zero]
        var longest: (length: Duration, last: WrittenEdge)?
        for id in order.reversed() {
            let length = lengths[id] ?? .zero
            for index in outlets[id] ?? [] where !closing.contains(index) {
                let total = length + edges[index].length
                if edges[index].length > .zero, total > longest?.length ?? .zero {
                    longest = (total, edges[index])
                }
                if let step = target(index) { lengths[step] = max(lengths[step] ?? .zero, total) }
            }
        }
        return longest
    }

    /// For each step, the events one of which `/event` may be when a run enters it.
    func boundEvents(from start: StepID, trigger: [String]) -> [StepID: Set<String>] {
        var bound: [StepID: Set<String>] = [start: Set(trigger)]
        var pending = [start]
        while let id = pending.popLast() {
            for index in outlets[id] ?? [] {
                guard let step = target(index) else { continue }
                let carried = edges[index].binds.map { Set($0) } ?? bound[id] ?? []
                let known = bound[step]
                if let known, carried.isSubset(of: known) { continue }
                bound[step] = (known ?? []).union(carried)
                pending.append(step)
            }
        }
        return bound
    }
}
