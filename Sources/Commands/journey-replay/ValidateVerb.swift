internal import CommandLine
internal import Configuration
internal import JSON
internal import Settings
internal import WorkflowDefinitions

extension CommandSpecification {
    /// Verbs over definition files; they need no database.
    static let checking = [
        simulate,
        graph,
        vocabulary,
        schema,
        CommandSpecification(
            name: "validate", summary: "Check definition files",
            discussion: """
                Prints every problem as file:line:column with the JSON Pointer and, where there is one, \
                the fix. Without FILE, checks all of the folder Workflows. Exits 1 when something must \
                be mended; warnings alone are no reason.
                """,
            examples: [
                Example("journey-replay validate", "check every file under Workflows"),
                Example(
                    "journey-replay validate Workflows/welcome.json -o json", "one file, as JSON"),
            ],
            options: [OutputFormat.option],
            arguments: [
                ArgumentSpecification(
                    "FILE", help: "definition files or folders", isRequired: false, repeats: true)
            ]),
    ]
}

extension ReplayCall {
    func validate() throws {
        let definitions = try readDefinitions(parsed.allArguments("FILE"))
        let format = format()
        switch format {
        case .table:
            for diagnostic in definitions.diagnostics {
                terminal.output.writeLine(printable(diagnostic.description))
            }
        case .json, .jsonl, .ids:
            var table = Table(columns: [], idKey: "file")
            table.rows = definitions.diagnostics.map(\.json)
            terminal.output.write(table.text(format))
        }
        let files = counted(definitions.fileCount, "file")
        let errors = definitions.diagnostics.count { $0.severity == .error }
        guard errors == 0 else {
            throw ReplayFailure(
                "\(counted(errors, "error")) in \(files); mend them and validate again.")
        }
        let warnings = definitions.diagnostics.count
        terminal.error.writeLine(
            "\(files) without errors" + (warnings > 0 ? ", \(counted(warnings, "warning"))" : ""))
    }

    /// Definition files of the words; a word that is no `.json` is a folder of them, none is
    /// `Workflows`.
    func readDefinitions(_ words: [String]) throws -> ReadDefinitions {
        var paths: [String] = []
        for word in words.isEmpty ? ["Workflows"] : words {
            if word.hasSuffix(".json") {
                paths.append(word)
            } else {
                let names = try BoundedFile.names(in: word).filter { $0.hasSuffix(".json") }
                paths += names.map { word + (word.hasSuffix("/") ? "" : "/") + $0 }
            }
        }
        guard !paths.isEmpty else {
            throw ReplayFailure(
                .notFound, "There are no definition files in \(words.first ?? "Workflows").")
        }
        let folder = try WorkflowFolder.read(files: paths)
        return ReadDefinitions(
            fileCount: Set(paths + folder.surroundingPaths).count, workflows: folder.published,
            segments: folder.segments, diagnostics: folder.diagnostics)
    }
}

/// Definition files as read and checked.
struct ReadDefinitions {
    /// With those beside them: events, segments, experiments.
    var fileCount: Int
    /// Those without errors.
    var workflows: [PublishedWorkflow]
    /// Those beside the workflows, without errors.
    var segments: [PublishedSegment]
    var diagnostics: [Diagnostic]
}

extension Diagnostic {
    /// `{"severity", "code", "file", "line", "column", "pointer", "message", "fix"?}`.
    var json: JSONValue {
        var object = JSONObject([
            ("severity", .string(severity.rawValue)), ("code", .string(code.rawValue)),
            ("file", .string(file)),
            ("line", .integer(line)), ("column", .integer(column)),
            ("pointer", .string(pointer.description)), ("message", .string(sentence)),
        ])
        object["fix"] = fix.map { .string($0) }
        return .object(object)
    }
}

/// `1 file`, `2 files`.
func counted(_ count: Int, _ noun: String) -> String {
    if count == 1 { return "1 \(noun)" }
    return noun.hasSuffix("ry")
        ? "\(count) \(noun.dropLast())ies"
        : "\(count) \(noun)\(noun.hasSuffix("ch") ? "es" : "s")"
}
