package import Configuration
internal import JSON
internal import JourneyModel
internal import TimeZones
package import WorkflowDefinitions

/// What stands beside the definition files of one folder: `events.json`, `segments/`, `experiments/`,
/// and which workflows there are.
package struct WorkflowSurroundings: Sendable {
    /// What the definitions of the folder are checked against.
    package var context: DefinitionContext
    /// The segments that could be read, in the order of their names.
    package var segments: [PublishedSegment]
    /// The files that were read, definitions not among them.
    package var paths: [String]
    /// What is wrong with those files; it concerns every definition of the folder.
    package var diagnostics: [Diagnostic]

    static let declarations = "events.json"
    /// Folders whose files are no workflows.
    static let segments = "segments"
    static let experiments = "experiments"

    /// Reads what stands in a folder; an absent part is an empty one.
    ///
    /// - Parameter folder: the folder of the definitions; empty for the working directory.
    /// - Throws: when a file cannot be read.
    package static func read(_ folder: String) throws(BoundedFile.Failure) -> WorkflowSurroundings {
        let base = folder.isEmpty || folder.hasSuffix("/") ? folder : folder + "/"
        var read = WorkflowSurroundings(
            context: DefinitionContext(), segments: [], paths: [], diagnostics: [])
        if BoundedFile.exists(base + declarations) {
            let bytes = try read.bytes(base + declarations)
            let outcome = EventDeclarations.read(bytes, file: base + declarations)
            read.context.events = outcome.declarations
            read.diagnostics += outcome.diagnostics
        }
        if let database = try? TimeZoneDatabase() { read.context.zones = Set(database.names) }
        try read.readExperiments(base + experiments)
        try read.readWorkflowNames(base)
        try read.readSegments(base + Self.segments)
        return read
    }

    private mutating func readExperiments(_ folder: String) throws(BoundedFile.Failure) {
        for path in try Self.files(in: folder) {
            let outcome = WorkflowParser.readExperiment(try bytes(path), file: path)
            diagnostics += outcome.diagnostics
            if let experiment = outcome.definition {
                context.experiments[experiment.id] = experiment
            }
        }
    }

    /// The names come first, so that a segment may ask for one whose own file is broken without a
    /// second complaint.
    private mutating func readSegments(_ folder: String) throws(BoundedFile.Failure) {
        let files = try Self.files(in: folder)
        context.segments = Set(files.map { SegmentID(Self.name(of: $0)) })
        for path in files {
            let outcome = WorkflowParser.readSegment(
                try bytes(path), file: path, context: context)
            diagnostics += outcome.diagnostics
            if let segment = outcome.definition { segments.append(segment) }
        }
        let circles = WorkflowParser.circles(among: segments.map(\.definition))
        for circle in circles {
            guard let path = files.first(where: { Self.name(of: $0) == circle[0].text }) else {
                continue
            }
            diagnostics += WorkflowParser.report(
                circle: circle, in: try BoundedFile.read(path, limit: WorkflowParser.longestFile),
                file: path)
        }
    }

    private mutating func readWorkflowNames(_ base: String) throws(BoundedFile.Failure) {
        var known: [WorkflowID: Bool] = [:]
        for path in try Self.files(in: base.isEmpty ? "." : base)
        where Self.name(of: path) != "events" {
            let bytes = try BoundedFile.read(path, limit: WorkflowParser.longestFile)
            guard let glance = WorkflowParser.glance(bytes) else { continue }
            known[glance.id] = glance.isStartedByAPI
        }
        context.workflows = known
    }

    private mutating func bytes(_ path: String) throws(BoundedFile.Failure) -> [UInt8] {
        paths.append(path)
        return try BoundedFile.read(path, limit: WorkflowParser.longestFile)
    }

    /// Every `*.json` directly inside a folder; none when there is no such folder.
    private static func files(in folder: String) throws(BoundedFile.Failure) -> [String] {
        guard BoundedFile.exists(folder) else { return [] }
        let base = folder.hasSuffix("/") ? folder : folder + "/"
        return try BoundedFile.names(in: folder).filter { $0.hasSuffix(".json") }.map {
            base == "./" ? $0 : base + $0
        }
    }

    private static func name(of path: String) -> String {
        let file = path.split(separator: "/").last.map(String.init) ?? path
        return file.hasSuffix(".json") ? String(file.dropLast(5)) : file
    }
}
