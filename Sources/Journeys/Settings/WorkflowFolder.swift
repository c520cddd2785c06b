package import Configuration
package import WorkflowDefinitions

/// The files of a `Workflows` folder, read and checked together: one file a workflow, and what stands
/// beside them.
package struct WorkflowFolder: Sendable {
    /// One definition file with what reading it gave.
    package struct File: Sendable {
        /// The path as the caller gave or found it.
        package var path: String
        package var outcome: ParseOutcome
    }

    /// In the order of their names.
    package var files: [File]
    /// Of `events.json`, segments and experiments; they concern every file.
    package var declarationDiagnostics: [Diagnostic]
    /// The segments beside the files, without those that could not be read.
    package var segments: [PublishedSegment]
    /// The files beside the definitions that were read.
    package var surroundingPaths: [String]

    /// Every diagnostic, those of what stands beside the workflows first.
    package var diagnostics: [Diagnostic] {
        declarationDiagnostics + files.flatMap(\.outcome.diagnostics)
    }

    /// Whether something must be mended before any of it may be published.
    package var hasErrors: Bool { diagnostics.contains { $0.severity == .error } }

    /// The workflows that could be read.
    package var published: [PublishedWorkflow] { files.compactMap(\.outcome.published) }

    /// Reads every `*.json` directly inside `folder`, with the segments and experiments below it.
    ///
    /// - Throws: when the folder or a file cannot be read.
    package static func read(_ folder: String) throws(BoundedFile.Failure) -> WorkflowFolder {
        let names = try BoundedFile.names(in: folder).filter {
            $0.hasSuffix(".json") && $0 != WorkflowSurroundings.declarations
        }
        let base = folder.hasSuffix("/") ? folder : folder + "/"
        var read = try read(files: names.map { base + $0 })
        if names.isEmpty { read.take(try WorkflowSurroundings.read(folder)) }
        return read
    }

    /// Reads definition files, each checked against what stands beside it. A file of `segments/`,
    /// `experiments/` or `events.json` itself is read with all that stands beside it.
    ///
    /// - Throws: when a file cannot be read.
    package static func read(files: [String]) throws(BoundedFile.Failure) -> WorkflowFolder {
        var read = WorkflowFolder(
            files: [], declarationDiagnostics: [], segments: [], surroundingPaths: [])
        var known: [String: WorkflowSurroundings] = [:]
        for path in files {
            let (folder, isDefinition) = place(of: path)
            if !isDefinition, !BoundedFile.exists(path) {
                _ = try BoundedFile.read(path, limit: WorkflowParser.longestFile)
            }
            let surroundings: WorkflowSurroundings
            if let seen = known[folder] {
                surroundings = seen
            } else {
                surroundings = try WorkflowSurroundings.read(folder)
                known[folder] = surroundings
                read.take(surroundings)
            }
            guard isDefinition else { continue }
            let bytes = try BoundedFile.read(path, limit: WorkflowParser.longestFile)
            read.files.append(
                File(
                    path: path,
                    outcome: WorkflowParser.read(bytes, file: path, context: surroundings.context)))
        }
        return read
    }

    private mutating func take(_ surroundings: WorkflowSurroundings) {
        declarationDiagnostics += surroundings.diagnostics
        segments += surroundings.segments
        surroundingPaths += surroundings.paths
    }

    /// The folder whose definitions a file belongs to, and whether it is one of them.
    private static func place(of path: String) -> (folder: String, isDefinition: Bool) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let folder = parts.dropLast()
        let beside = [WorkflowSurroundings.segments, WorkflowSurroundings.experiments]
        if let last = folder.last, beside.contains(last) {
            return (folder.dropLast().joined(separator: "/"), false)
        }
        let isDefinition = parts.last != WorkflowSurroundings.declarations
        return (folder.joined(separator: "/"), isDefinition)
    }
}
