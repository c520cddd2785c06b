package import Configuration
package import WorkflowDefinitions

/// The files of a `Workflows` folder, read and checked: `events.json` and one file a workflow.
package struct WorkflowFolder: Sendable {
    /// One definition file with what reading it gave.
    package struct File: Sendable {
        /// The path as the caller gave or found it.
        package var path: String
        package var outcome: ParseOutcome
    }

    /// In the order of their names.
    package var files: [File]
    /// Of `events.json`; they concern every file.
    package var declarationDiagnostics: [Diagnostic]

    /// Every diagnostic, those of the declarations first.
    package var diagnostics: [Diagnostic] {
        declarationDiagnostics + files.flatMap(\.outcome.diagnostics)
    }

    /// Whether something must be mended before any of it may be published.
    package var hasErrors: Bool { diagnostics.contains { $0.severity == .error } }

    /// The workflows that could be read.
    package var published: [PublishedWorkflow] { files.compactMap(\.outcome.published) }

    /// Reads every `*.json` directly inside `folder`.
    ///
    /// - Throws: when the folder or a file cannot be read.
    package static func read(_ folder: String) throws(BoundedFile.Failure) -> WorkflowFolder {
        let names = try BoundedFile.names(in: folder).filter {
            $0.hasSuffix(".json") && $0 != declarations
        }
        return try read(files: names.map { folder + "/" + $0 })
    }

    /// Reads definition files; the app's events are those of `events.json` beside each.
    ///
    /// - Throws: when a file cannot be read.
    package static func read(files: [String]) throws(BoundedFile.Failure) -> WorkflowFolder {
        var read = WorkflowFolder(files: [], declarationDiagnostics: [])
        var known: [String: EventDeclarations] = [:]
        for path in files {
            let folder = path.split(separator: "/", omittingEmptySubsequences: false)
                .dropLast().joined(separator: "/")
            if known[folder] == nil {
                let place = path.contains("/") ? folder + "/" + declarations : declarations
                let outcome = try readDeclarations(place)
                known[folder] = outcome.declarations
                read.declarationDiagnostics += outcome.diagnostics
            }
            let bytes = try BoundedFile.read(path, limit: WorkflowParser.longestFile)
            read.files.append(
                File(
                    path: path,
                    outcome: WorkflowParser.read(
                        bytes, file: path, events: known[folder] ?? EventDeclarations())))
        }
        return read
    }

    private static let declarations = "events.json"

    /// An absent file declares nothing.
    private static func readDeclarations(
        _ path: String
    ) throws(BoundedFile.Failure) -> EventDeclarations.Outcome {
        guard BoundedFile.exists(path) else {
            return EventDeclarations.Outcome(declarations: EventDeclarations(), diagnostics: [])
        }
        let bytes = try BoundedFile.read(path, limit: WorkflowParser.longestFile)
        return EventDeclarations.read(bytes, file: path)
    }
}
