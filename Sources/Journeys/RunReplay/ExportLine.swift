package import JSON
package import JourneyEngine
package import JourneyModel
package import TimeZones
package import WorkflowDefinitions

/// One line of an export of runs: an object whose `kind` says what it is.
///
/// An export begins with `export` and ends with `end`. Before the first run that follows it comes each
/// `definition`; after a `run` come its `decision`s, then the `attempted` of its effects, then the
/// `event`s that it may have been given.
package enum ExportLine: Sendable {
    /// What this version writes; it reads every earlier format.
    package static let format: Int64 = 1

    case export(program: String, at: Instant, isRedacted: Bool)
    case definition(workflow: WorkflowID, version: Int, published: PublishedWorkflow)
    case run(RunRow)
    case decision(RunID, RecordedDecision)
    /// One attempt of an effect, in the members of its history entry.
    case attempted(RunID, JSONObject)
    case event(LoggedEvent)
    case end(runs: Int)

    package var json: JSONObject {
        switch self {
        case .export(let program, let at, let isRedacted):
            JSONObject([
                ("kind", "export"), ("format", .integer(Self.format)),
                ("program", .string(program)), ("at", .string(at.description)),
                ("redacted", .bool(isRedacted)),
            ])
        case .definition(let workflow, let version, let published):
            JSONObject([
                ("kind", "definition"), ("workflow", .string(workflow.text)),
                ("version", .integer(version)), ("digest", .string(published.digest)),
                ("canonical", .string(String(decoding: published.canonical, as: UTF8.self))),
            ])
        case .run(let row):
            JSONObject([("kind", "run"), ("run", .string(row.run.id.text))] + row.members)
        case .decision(let run, let decision):
            JSONObject(
                [
                    ("kind", "decision"), ("run", .string(run.text)),
                    ("decision", .integer(decision.number)),
                    ("at", .string(decision.at.description)),
                ] + decision.json.members)
        case .attempted(let run, let members):
            JSONObject(
                [("kind", "attempted"), ("run", .string(run.text))]
                    + members.members.filter { $0.key != "kind" && $0.key != "run" })
        case .event(let logged):
            JSONObject([
                ("kind", "event"), ("ordinal", .integer(logged.ordinal)),
                ("recorded_at", .string(logged.recordedAt.description)),
                ("event", .object(logged.event.json)),
            ])
        case .end(let runs): JSONObject([("kind", "end"), ("runs", .integer(runs))])
        }
    }

    /// Reads what ``json`` wrote.
    package init(json: JSONObject) throws(StoredFormError) {
        let reader = StoredObject(subject: "export", object: json)
        switch try reader.string("kind") {
        case "export":
            guard try reader.integer("format") == Self.format else { throw reader.error("format") }
            self = .export(
                program: try reader.string("program"), at: try reader.instant("at"),
                isRedacted: json["redacted"]?.bool ?? false)
        case "definition":
            let canonical = Array(try reader.string("canonical").utf8)
            guard let published = try? WorkflowParser.load(canonical: canonical),
                published.digest == json["digest"]?.string
            else { throw reader.error("canonical") }
            self = .definition(
                workflow: WorkflowID(try reader.string("workflow")),
                version: Int(try reader.integer("version")), published: published)
        case "run": self = .run(try RunRow(members: json))
        case "decision":
            let own = ["kind", "run", "decision", "at"]
            self = .decision(
                RunID(try reader.string("run")),
                RecordedDecision(
                    number: Int(try reader.integer("decision")), at: try reader.instant("at"),
                    json: JSONObject(json.filter { !own.contains($0.key) })))
        case "attempted":
            self = .attempted(RunID(try reader.string("run")), json)
        case "event":
            self = .event(
                LoggedEvent(
                    ordinal: try reader.integer("ordinal"),
                    recordedAt: try reader.instant("recorded_at"),
                    event: try Event(json: try reader.object("event"))))
        case "end": self = .end(runs: Int(try reader.integer("runs")))
        default: throw reader.error("kind")
        }
    }
}

extension RunRow {
    /// The columns and the state.
    fileprivate var members: [(key: String, value: JSONValue)] { json.object?.members ?? [] }

    fileprivate init(members: JSONObject) throws(StoredFormError) {
        let reader = StoredObject(subject: "run", object: members)
        self.init(
            run: try Run(state: try reader.object("state")), status: try reader.string("status"),
            reason: members["reason"]?.string, step: members["step"]?.string,
            endedAt: try reader.instantIfPresent("ended_at"),
            wakeAt: try reader.instantIfPresent("wake_at"),
            decisions: Int(try reader.integer("decisions")))
    }
}
