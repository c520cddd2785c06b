internal import CommandLine
internal import JSON
internal import JourneyStorage
internal import TimeZones

extension CommandSpecification {
    static let auditTerms: [Selector.Term] = [.who, .verb, .since, .until]

    static let audit = CommandSpecification(
        name: "audit", summary: "List who changed what, when and why, the newest first",
        discussion: """
            Every verb that changes something leaves one row: who, which verb, --reason, what was \
            selected, and how many. DONE and REFUSED count what turns have made of the commands so far. \
            -o json has the selection as written, with its first ids.
            """,
        examples: [
            Example("journey-replay audit --where since=1d", "what was changed lately"),
            Example("journey-replay audit --where \"verb=cancel who=ada\"", "who cancelled runs"),
            Example("journey-replay audit 17 -o json", "one change, whole"),
        ],
        options: Selector.options(auditTerms) + [OutputFormat.option],
        arguments: [
            ArgumentSpecification(
                "AUDIT", help: "changes by number; - takes numbers from standard input",
                isRequired: false, repeats: true)
        ])
}

extension ReplayCall {
    func audit() async throws {
        let selector = try selector("AUDIT", known: CommandSpecification.auditTerms)
        var filter = AuditFilter()
        filter.who = selector[.who]
        filter.verb = selector[.verb]
        filter.since = selector.since
        filter.until = selector.until
        filter.limit = min(selector.limit, LookStore.listLimit)
        if !parsed.allArguments("AUDIT").isEmpty {
            filter.ids = try selector.ids.map { word throws(UsageError) in
                if let id = Int64(word) { return id }
                throw UsageError(
                    path: parsed.path,
                    "The number of a change is a whole number, not \"\(word.prefix(32))\"; "
                        + "journey-replay audit shows them.")
            }
            filter.limit = LookStore.listLimit
        }
        let asked = filter
        try await withDatabase { pool in
            let rows = try await LookStore(pool: pool).audit(asked)
            if let ids = asked.ids {
                if let missing = ids.first(where: { id in !rows.contains { $0.id == id } }) {
                    throw ReplayFailure.notFound(
                        "There is no change \(missing); journey-replay audit shows them.")
                }
                return printTable(AuditView.table(rows))
            }
            printTable(AuditView.table(rows), limit: asked.limit)
        }
    }
}

extension AuditView {
    /// What was changed, in a few words.
    private var what: String {
        if let versions = detail["versions"]?.string { return versions }
        if let workflow = detail["workflow"]?.string {
            let customer = detail["customer"]?.integer.map { " for customer \($0)" } ?? ""
            return workflow + customer
        }
        let noun = detail["what"]?.string ?? "object"
        let selected = count.map { counted($0, noun) } ?? noun
        let terms = detail["where"]?.string.map { " with \($0)" } ?? ""
        let all = detail["all"]?.bool == true ? ", all of them" : ""
        let ids = detail["ids"]?.array?.map { $0.string ?? $0.text } ?? []
        let named =
            terms.isEmpty && all.isEmpty && !ids.isEmpty
            ? ": " + ids.prefix(3).map { String($0.prefix(12)) }.joined(separator: ", ")
                + (ids.count > 3 ? ", …" : "")
            : ""
        return selected + terms + all + named
    }

    /// How many were selected; nil where the verb does not say.
    private var count: Int? {
        if let selected = detail["selected"]?.integer { return Int(selected) }
        if let versions = detail["versions"]?.string {
            return versions.split(separator: ",").count
        }
        return detail["workflow"] == nil ? nil : 1
    }

    private var json: JSONValue {
        var row = JSONObject([
            ("id", .integer(id)), ("at", .string(at.description)), ("who", .string(who)),
            ("verb", .string(verb)), ("reason", .string(reason)), ("what", .string(what)),
        ])
        row["count"] = count.map { .integer($0) }
        row["done"] = .integer(done)
        row["refused"] = .integer(refused)
        row["detail"] = .object(detail)
        return .object(row)
    }

    static func table(_ rows: [AuditView]) -> Table {
        Table(
            columns: [
                Table.Column("AUDIT", key: "id", alignment: .right), Table.Column("AT", key: "at"),
                Table.Column("WHO", key: "who"), Table.Column("VERB", key: "verb"),
                Table.Column("COUNT", key: "count", alignment: .right),
                Table.Column("DONE", key: "done", alignment: .right),
                Table.Column("REFUSED", key: "refused", alignment: .right),
                Table.Column("WHAT", key: "what"), Table.Column("REASON", key: "reason"),
            ], rows: rows.map(\.json))
    }
}
