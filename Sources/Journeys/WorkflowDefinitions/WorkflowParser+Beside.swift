internal import Crypto
internal import JSON
package import JourneyModel

/// What reading a segment's or an experiment's file gave.
package struct BesideOutcome<Definition: Sendable>: Sendable {
    /// Nil exactly when a diagnostic is an error.
    package var definition: Definition?
    /// In the order of the file; warnings too.
    package var diagnostics: [Diagnostic]
}

// The files that stand beside workflows.
extension WorkflowParser {
    /// Reads and checks `Workflows/segments/<id>.json`.
    package static func readSegment(
        _ bytes: [UInt8], file: String, context: DefinitionContext
    ) -> BesideOutcome<PublishedSegment> {
        let source = DefinitionSource(bytes, file: file)
        var reader = DefinitionReader(context: context)
        reader.problems = source.problems
        let segment = source.root.flatMap { reader.segment($0, fileName: source.fileName) }
        reader.checkSegmentClaims()
        let isUsable = !reader.problems.hasErrors
        return BesideOutcome(
            definition: isUsable ? segment.map { publish($0) } : nil,
            diagnostics: source.diagnostics(reader.problems))
    }

    /// Reads a segment's published form back.
    ///
    /// - Throws: when the bytes are not a segment of this language.
    package static func loadSegment(
        canonical: [UInt8]
    ) throws(PublishedFormError) -> PublishedSegment {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONParser.parse(canonical, options: options)
        } catch {
            throw PublishedFormError(reason: "\(capitalised(error.description)).")
        }
        var reader = DefinitionReader(context: nil)
        let root = Node(value: value, pointer: JSONPointer())
        guard let segment = reader.segment(root, fileName: nil), !reader.problems.hasErrors else {
            let first = reader.problems.found.first { $0.severity == .error }
            throw PublishedFormError(reason: first?.sentence ?? "It is not a segment.")
        }
        return PublishedSegment(
            definition: segment, canonical: canonical, digest: SHA256.hex(canonical))
    }

    /// Reads and checks `Workflows/experiments/<id>.json`.
    package static func readExperiment(
        _ bytes: [UInt8], file: String
    ) -> BesideOutcome<ExperimentDefinition> {
        let source = DefinitionSource(bytes, file: file)
        var reader = DefinitionReader(context: DefinitionContext())
        reader.problems = source.problems
        let experiment = source.root.flatMap { reader.experiment($0, fileName: source.fileName) }
        let isUsable = !reader.problems.hasErrors
        return BesideOutcome(
            definition: isUsable ? experiment : nil,
            diagnostics: source.diagnostics(reader.problems))
    }

    /// The id and whether the trigger is `api`, read without judging anything: what other files of the
    /// folder need to know before this one is read. Nil for a text that is no workflow.
    package static func glance(_ bytes: [UInt8]) -> (id: WorkflowID, isStartedByAPI: Bool)? {
        guard bytes.count <= longestFile,
            let value = try? JSONParser.parse(bytes, options: options),
            let id = value["id"]?.string
        else { return nil }
        return (WorkflowID(id), value["entry"]?["trigger"]?["api"]?.bool == true)
    }

    /// The segments that ask for one another in a circle, each circle once, in the order they ask.
    package static func circles(
        among segments: [SegmentDefinition]
    ) -> [[SegmentID]] {
        let asks = Dictionary(
            segments.map { ($0.id, $0.needs.segments.sorted()) }, uniquingKeysWith: { $1 })
        var circles: [[SegmentID]] = []
        var finished: Set<SegmentID> = []
        for root in asks.keys.sorted() where !finished.contains(root) {
            var path: [(id: SegmentID, next: Int)] = [(root, 0)]
            while let (id, next) = path.last {
                let asked = asks[id] ?? []
                guard next < asked.count else {
                    finished.insert(id)
                    path.removeLast()
                    continue
                }
                path[path.count - 1].next += 1
                if let start = path.firstIndex(where: { $0.id == asked[next] }) {
                    if path.count - start > 1 { circles.append(path[start...].map(\.id)) }
                } else if !finished.contains(asked[next]) {
                    path.append((asked[next], 0))
                }
            }
        }
        return circles
    }

    /// What is wrong with a segment that begins a circle, at the question that leads into it.
    package static func report(
        circle: [SegmentID], in bytes: [UInt8], file: String
    ) -> [Diagnostic] {
        let source = DefinitionSource(bytes, file: file)
        let asked = circle.count > 1 ? circle[1] : circle.first
        let place =
            source.root.flatMap { question(for: asked, in: $0) } ?? JSONPointer(tokens: ["if"])
        let way = (circle + circle.prefix(1)).map(\.text).joined(separator: " → ")
        var problems = Problems()
        problems.add(
            place,
            "The segments ask for one another in a circle, \(way), so that none can be decided; take "
                + "one condition out.", code: .cycle)
        return source.diagnostics(problems)
    }

    private static func question(for segment: SegmentID?, in node: Node) -> JSONPointer? {
        if let id = node.value["segment"]?["id"]?.string, id == segment?.text {
            return node.pointer.appending("segment").appending("id")
        }
        let parts =
            node.items
            ?? node.value.object?.map {
                Node(value: $0.value, pointer: node.pointer.appending($0.key))
            } ?? []
        for part in parts {
            if let found = question(for: segment, in: part) { return found }
        }
        return nil
    }

    private static func publish(_ definition: SegmentDefinition) -> PublishedSegment {
        let canonical = definition.json.canonicalBytes
        return PublishedSegment(
            definition: definition, canonical: canonical, digest: SHA256.hex(canonical))
    }
}
