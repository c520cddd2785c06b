package import JSON
package import JourneyEngine
internal import JourneyModel
package import WorkflowDefinitions

/// One run of an export.
package struct ExportedRun: Sendable {
    package var recorded: RecordedRun
    package var row: RunRow
    /// The version that the run follows; nil where the export lacks it.
    package var definition: PublishedWorkflow?
    /// In the members of their history entries.
    package var attempts: [JSONObject] = []
    package var events: [LoggedEvent] = []
}

/// A line that makes no export.
package struct ExportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// From 1.
    package let line: Int
    package let fact: String

    package var description: String {
        "line \(line) of the export \(fact); export the runs again with journey-replay export"
    }
}

/// Reads an export line by line and gives its runs one by one, so that a file of any length takes the
/// memory of one run and of the definitions.
package struct ExportReader: Sendable {
    private struct Key: Hashable {
        var workflow: WorkflowID
        var version: Int
    }

    private var definitions: [Key: PublishedWorkflow] = [:]
    private var open: ExportedRun?
    private var line = 0
    private var runs = 0
    private var hasBegun = false
    private var hasEnded = false
    /// Whether values were left out when it was written.
    package private(set) var isRedacted = false

    package init() {}

    /// Takes a line without its line feed; a run is given back when the next line is no more of it.
    package mutating func take(_ bytes: [UInt8]) throws(ExportError) -> ExportedRun? {
        line += 1
        if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x0D }) { return nil }
        if hasEnded { throw error("follows its end") }
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONParser.parse(bytes, options: Self.options)
        } catch { throw self.error("is not JSON: \(error)") }
        guard let object = value.object else { throw error("is no object") }
        do throws(StoredFormError) {
            return try take(try ExportLine(json: object))
        } catch { throw self.error("cannot be read: \(error)") }
    }

    private mutating func take(_ read: ExportLine) throws(StoredFormError) -> ExportedRun? {
        if case .export(_, _, let isRedacted) = read {
            guard !hasBegun else { throw misplaced() }
            (hasBegun, self.isRedacted) = (true, isRedacted)
            return nil
        }
        guard hasBegun else { throw misplaced() }
        switch read {
        case .export: return nil
        case .definition(let workflow, let version, let published):
            definitions[Key(workflow: workflow, version: version)] = published
            return close()
        case .run(let row):
            let finished = close()
            runs += 1
            let key = Key(workflow: row.run.workflow, version: row.run.version)
            open = ExportedRun(
                recorded: RecordedRun(id: row.run.id, decisions: [], row: row), row: row,
                definition: definitions[key])
            return finished
        case .decision(let run, let decision):
            guard open?.recorded.id == run else { throw misplaced() }
            open?.recorded.decisions.append(decision)
        case .attempted(let run, let members):
            guard open?.recorded.id == run else { throw misplaced() }
            open?.attempts.append(members)
        case .event(let event):
            guard open != nil else { throw misplaced() }
            open?.events.append(event)
        case .end(let count):
            guard count == runs else { throw StoredFormError(subject: "export", member: "runs") }
            hasEnded = true
            return close()
        }
        return nil
    }

    /// To be called after the last line.
    ///
    /// - Throws: when the export was cut off.
    package func end() throws(ExportError) {
        guard hasEnded else {
            throw ExportError(
                line: line + 1,
                fact: hasBegun ? "is missing: it was cut off" : "is none: it is empty")
        }
    }

    private mutating func close() -> ExportedRun? {
        defer { open = nil }
        return open
    }

    private func misplaced() -> StoredFormError {
        StoredFormError(subject: "export", member: "kind")
    }

    private func error(_ fact: String) -> ExportError { ExportError(line: line, fact: fact) }

    private static let options: JSONParser.Options = {
        var options = JSONParser.Options.webhook
        options.maximumDepth = 256
        return options
    }()
}
