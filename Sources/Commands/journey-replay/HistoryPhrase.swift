internal import JSON

/// One entry of a run's history in words, for a person who is tired.
struct HistoryPhrase: Sendable, Hashable {
    /// The entry's `kind`.
    let kind: String
    let text: String

    /// Nil for what was read: it explains nothing by itself, and `-o json` has it.
    init?(_ entry: JSONValue) {
        guard let kind = entry["kind"]?.string, kind != "read" else { return nil }
        self.kind = kind
        text = Self.text(kind, entry)
    }

    private static func text(_ kind: String, _ entry: JSONValue) -> String {
        func word(_ key: String) -> String { entry[key].map(shown) ?? "?" }
        switch kind {
        case "entered":
            let key = entry["key"]?.string.map { ", key \($0)" } ?? ""
            let event = entry["trigger"]?["meta"]?["name"]?.string
            return "entered version \(word("version")) by \(event ?? word("cause"))\(key)"
        case "input": return input(entry)
        case "moved":
            return "\(word("from")) -> \(word("to")) by \(word("outlet"))" + cause(entry)
        case "waiting": return waiting(entry)
        case "requested":
            let account = entry["account"]?.string.map { " to \($0)" } ?? ""
            return
                "\(word("step")) asks for \(word("tool"))\(account) (\(short(word("invocation"))))"
        case "attempted": return "attempt \(word("fence")): \(word("outcome"))"
        case "converted": return "converted by \(word("event")) of \(word("occurred_at"))"
        case "stale": return "a result of \(short(word("invocation"))) came too late to matter"
        case "ended":
            let reason = entry["reason"]?.string.map { ": \($0)" } ?? ""
            return word("status") + reason + cause(entry)
        default: return remaining(entry)
        }
    }

    /// What an action's end said, such as which value was missing.
    private static func cause(_ entry: JSONValue) -> String {
        guard let detail = entry["because"]?["detail"] else { return "" }
        return " (\(shown(detail)))"
    }

    private static func input(_ entry: JSONValue) -> String {
        if let name = entry["name"]?.string {
            let bound = entry["bound_by"]?.string.map { ", taken by \($0)" } ?? ""
            return "event \(name)\(bound)"
        }
        if let due = entry["timer"]?.string { return "the timer of \(due)" }
        if let invocation = entry["result"]?.string {
            return "\(short(invocation)) ended: \(outcome(entry["outcome"]))"
        }
        return remaining(entry)
    }

    private static func waiting(_ entry: JSONValue) -> String {
        let step = entry["step"].map(shown) ?? "?"
        if let invocation = entry["invocation"]?.string {
            return "at \(step) for the end of \(short(invocation))"
        }
        let events = (entry["events"]?.array ?? []).compactMap(\.string)
        let what = events.isEmpty ? "" : " for " + events.joined(separator: " or ")
        let until = entry["due"]?.string.map { " until \($0)" } ?? ""
        let again = entry["reconsider_at"]?.string.map { ", looked at again \($0)" } ?? ""
        return "at \(step)\(what)\(until)\(again)"
    }

    /// `succeeded`, `failed: http_404`, `suppressed: paused`.
    static func outcome(_ value: JSONValue?) -> String {
        let word = value?["outcome"]?.string ?? "?"
        let detail = value?["error"]?.string ?? value?["reason"]?.string
        return detail.map { "\(word): \($0)" } ?? word
    }

    /// The members beside the kind, for kinds without words of their own.
    private static func remaining(_ entry: JSONValue) -> String {
        guard let object = entry.object else { return entry.text }
        return object.filter { $0.key != "kind" }.map { "\($0.key) \(shown($0.value))" }
            .joined(separator: ", ")
    }

    /// The first digits of a long id: enough to tell it from others, and a valid prefix.
    static func short(_ id: String) -> String { String(id.prefix(8)) }

    private static func shown(_ value: JSONValue) -> String { value.string ?? value.text }
}
