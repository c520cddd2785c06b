internal import CommandLine
internal import Configuration
internal import JSON
internal import JourneyModel
internal import JourneyStorage
internal import JourneyTurns
internal import Postgres
internal import Settings
internal import WorkflowDefinitions

extension CommandSpecification {
    static let publish = CommandSpecification(
        name: "publish", summary: "Make definition files what new runs enter",
        discussion: """
            Prints what changes first, then asks; in scripts --yes answers. All files are published \
            together or none. A definition that is published already changes nothing. Runs under way \
            keep the version they entered with, and nobody enters because of it. Of a changed segment \
            the customers are counted that its new condition takes in and lets go. --reason is required \
            and kept; only --dry-run does without.
            """,
        examples: [
            Example("journey-replay publish Workflows --dry-run", "what would change"),
            Example(
                "journey-replay publish Workflows/welcome.json --yes --reason shorter",
                "publish one workflow from a script"),
        ],
        options: [
            OptionSpecification(
                "reason", valueName: "TEXT", help: "why; required, and kept with the version"),
            OptionSpecification("yes", short: "y", help: "do not ask"),
            OptionSpecification("dry-run", help: "print what would change and do nothing"),
            OutputFormat.option,
        ],
        arguments: [
            ArgumentSpecification("FILE", help: "definition files or folders", repeats: true)
        ])
}

extension ReplayCall {
    func publish() async throws {
        let reason = try changeReason()
        let definitions = try readDefinitions(parsed.allArguments("FILE"))
        for diagnostic in definitions.diagnostics {
            terminal.error.writeLine(printable(diagnostic.description))
        }
        let errors = definitions.diagnostics.count { $0.severity == .error }
        guard errors == 0 else {
            throw ReplayFailure(
                "Nothing was published: \(counted(errors, "error")) must be mended first.")
        }
        try requireDistinct(definitions.workflows)
        try requireAccounts(definitions.workflows)
        try await withDatabase(changes: true) { pool in
            let store = DefinitionStore(pool: pool)
            let live = try await liveDefinitions(store)
            if let complaint = live.complaint(publishing: definitions.workflows) {
                throw ReplayFailure("Nothing was published: \(complaint)")
            }
            var plan = PublicationPlan(
                workflows: definitions.workflows, segments: definitions.segments, live: live)
            try await count(&plan, live, LookStore(pool: pool))
            let isDry = parsed.flag("dry-run")
            if isDry || plan.isEmpty || !parsed.flag("yes") {
                printRows(plan.rows, changing: isDry || plan.isEmpty)
            }
            if plan.isEmpty {
                return terminal.error.writeLine("Nothing changes: all of it is live already.")
            }
            if isDry { return terminal.error.writeLine("Nothing was published (--dry-run).") }
            try agree(to: "Publish \(plan.summary)?")
            let publications = try await store.publish(
                definitions.workflows, segments: definitions.segments, by: administrator,
                reason: reason)
            let digests = Dictionary(
                definitions.workflows.map { ($0.definition.id, $0.digest) },
                uniquingKeysWith: { first, _ in first })
            printRows(
                publications.workflows.map {
                    PublicationPlan.row($0, digest: digests[$0.workflow] ?? "")
                } + publications.segments.map(PublicationPlan.row), changing: true)
        }
    }

    /// Says how many customers changed segments take in and let go.
    private func count(
        _ plan: inout PublicationPlan, _ live: DefinitionSet, _ look: LookStore
    ) async throws {
        if plan.segmentChanges.isEmpty { return }
        var difference = SegmentDifference(plan.segmentChanges.map(\.definition), live: live)
        try await difference.count(look, live: live, now: command.now())
        plan.note(difference)
        if difference.isPartial {
            terminal.error.writeLine(
                "Enters and leaves are counted of the first \(SegmentDifference.mostCustomers) "
                    + "customers.")
        }
        let uncounted = plan.segmentChanges.map(\.definition.id).filter {
            difference.changes[$0] == nil
        }
        if !uncounted.isEmpty {
            terminal.error.writeLine(
                printable(
                    "Not counted, since only customers' turns know events and features: "
                        + uncounted.map(\.text).joined(separator: ", ") + "."))
        }
    }

    /// Asks before a change; a script says `--yes`.
    func agree(to question: String) throws {
        if parsed.flag("yes") || terminal.confirm(question) { return }
        throw ReplayFailure.refused(
            terminal.isInteractive
                ? "Nothing was changed."
                : "Nothing was changed: nobody can be asked here; say --yes.")
    }

    /// Who is recorded as having done it.
    var administrator: String {
        let names = ["SUDO_USER", "USER", "LOGNAME"].compactMap { environment[$0] }
        return names.first { !$0.isEmpty } ?? "unknown"
    }

    /// What is to be done goes to standard error while a question follows, so that standard output
    /// holds the result alone.
    private func printRows(_ rows: [JSONValue], changing isResult: Bool) {
        let table = Table(
            columns: [
                Table.Column("WORKFLOW", key: "workflow"), Table.Column("CHANGE", key: "change"),
                Table.Column("LIVE", key: "live_version", alignment: .right),
                Table.Column("VERSION", key: "version", alignment: .right),
                Table.Column("ENTERS", key: "enters", alignment: .right),
                Table.Column("LEAVES", key: "leaves", alignment: .right),
                Table.Column("DIGEST", key: "digest"),
            ].filter { column in rows.contains { column.pointer.resolve(in: $0) != nil } },
            rows: rows, idKey: "workflow")
        if isResult {
            terminal.output.write(table.text(format(), emphasis: terminal.usesColour))
        } else {
            terminal.error.write(table.text(.table))
        }
    }

    func liveDefinitions(_ store: DefinitionStore) async throws -> DefinitionSet {
        let cache = DefinitionCache(
            readSegment: { try WorkflowParser.loadSegment(canonical: $0).definition },
            read: { try WorkflowParser.load(canonical: $0).definition })
        return try await store.definitions(in: cache)
    }

    private func requireDistinct(_ workflows: [PublishedWorkflow]) throws {
        var seen: Set<String> = []
        for workflow in workflows where !seen.insert(workflow.definition.id.text).inserted {
            throw ReplayFailure(
                .usage, "The workflow \(workflow.definition.id) was named twice; name it once.")
        }
    }

    /// With a configuration at hand, an action that its accounts cannot do is refused.
    private func requireAccounts(_ workflows: [PublishedWorkflow]) throws {
        guard let file = parsed.option("config") else { return }
        let settings = try WorkerSettings.read(.file(file, environment: environment))
        guard let found = AccountMismatch.first(of: workflows, among: settings.accounts) else {
            return
        }
        let ending =
            found.isUnknown
            ? Spelling.ending(for: found.account, among: settings.accounts.keys.sorted())
            : "; name another account, or use its tool."
        throw ReplayFailure("Nothing was published: \(found)\(ending)")
    }
}

/// What publishing would change, before it is done.
struct PublicationPlan {
    /// Workflows whose live definition is another, or none.
    let changes: [PublishedWorkflow]
    /// Segments whose live definition is another, or none.
    let segmentChanges: [PublishedSegment]
    private(set) var rows: [JSONValue]

    /// Adds to each changed segment how many customers enter and leave it.
    mutating func note(_ difference: SegmentDifference) {
        rows = rows.map { row in
            guard var object = row.object, object["change"]?.string != "unchanged",
                let name = object["workflow"]?.string, name.hasPrefix("segments/"),
                let change = difference.changes[SegmentID(String(name.dropFirst(9)))]
            else { return row }
            object["enters"] = .integer(change.enters)
            object["leaves"] = .integer(change.leaves)
            return .object(object)
        }
    }

    var isEmpty: Bool { changes.isEmpty && segmentChanges.isEmpty }

    /// `2 workflows and 1 segment`.
    var summary: String {
        [
            changes.isEmpty ? nil : counted(changes.count, "workflow"),
            segmentChanges.isEmpty ? nil : counted(segmentChanges.count, "segment"),
        ].compactMap(\.self).joined(separator: " and ")
    }

    init(workflows: [PublishedWorkflow], segments: [PublishedSegment], live set: DefinitionSet) {
        let live = Dictionary(
            set.live.map { ($0.workflow, $0) }, uniquingKeysWith: { first, _ in first })
        let liveSegments = Dictionary(
            set.segments.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        segmentChanges = segments.filter { liveSegments[$0.definition.id]?.digest != $0.digest }
        changes = workflows.filter { live[$0.definition.id]?.digest != $0.digest }
        rows =
            workflows.map { workflow in
                let current = live[workflow.definition.id]
                let change =
                    current.map { $0.digest == workflow.digest ? "unchanged" : "changed" } ?? "new"
                return [
                    "workflow": .string(workflow.definition.id.text), "change": .string(change),
                    "live_version": current.map { .integer($0.number) } ?? .null,
                    "digest": .string(workflow.digest),
                ]
            }
            + segments.map { segment in
                let current = liveSegments[segment.definition.id]
                let change =
                    current.map { $0.digest == segment.digest ? "unchanged" : "changed" } ?? "new"
                return [
                    "workflow": .string("segments/\(segment.definition.id)"),
                    "change": .string(change),
                    "live_version": current.map { .integer($0.number) } ?? .null,
                    "digest": .string(segment.digest),
                ]
            }
    }

    static func row(_ publication: DefinitionStore.SegmentPublication) -> JSONValue {
        row(
            DefinitionStore.Publication(
                workflow: WorkflowID("segments/\(publication.segment)"),
                version: publication.version, change: publication.change), digest: "")
    }

    static func row(_ publication: DefinitionStore.Publication, digest: String) -> JSONValue {
        let change =
            switch publication.change {
            case .new: "new"
            case .unchanged: "unchanged"
            case .restored: "restored"
            }
        return [
            "workflow": .string(publication.workflow.text), "change": .string(change),
            "version": .integer(publication.version), "digest": .string(digest),
        ]
    }
}
