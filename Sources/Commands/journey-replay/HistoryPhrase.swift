internal import JSON

/// One entry of a run's history in words, for a person who is tired.
struct HistoryPhrase: Sendable, Hashable {
    /// The entry's `kind`.
    let kind: String
    let text: String

    /// What was read explains nothing by itself: a story leaves it out.
    var isStory: Bool { kind != "read" }

    /// Nil for what is no entry.
    init?(_ entry: JSONValue) {
        guard let kind = entry["kind"]?.string else { return nil }
        self.kind = kind
        text = Self.text(kind, entry)
    }

    private static func text(_ kind: String, _ entry: JSONValue) -> String {
        func word(_ key: String) -> String { entry[key].map(shown) ?? "?" }
        func step(_ before: String = " at ") -> String {
            entry["step"]?.string.map { before + $0 } ?? ""
        }
        switch kind {
        case "entered":
            let key = entry["key"]?.string.map { ", key \($0)" } ?? ""
            let zone = entry["zone"]?.string.map { ", \($0)" } ?? ""
            let event = entry["trigger"]?["meta"]?["name"]?.string
            return "entered version \(word("version")) by \(event ?? word("cause"))\(key)\(zone)"
        case "input": return input(entry)
        case "read": return read(entry)
        case "moved":
            return "\(word("from")) -> \(word("to")) by \(word("outlet"))\(variant(entry))"
                + reason(entry)
        case "waiting": return waiting(entry)
        case "requested":
            let account = entry["account"]?.string.map { " to \($0)" } ?? ""
            return
                "\(word("step")) asks for \(word("tool"))\(account) (\(short(word("invocation"))))"
        case "attempted": return attempted(entry)
        case "result":
            return "\(word("step"))'s effect \(short(word("invocation"))) ended \(word("outcome"))"
        case "milestone": return "passed the milestone \(word("milestone"))\(step())"
        case "exposed":
            let holdout = entry["holdout"]?.bool == true ? " (holdout)" : ""
            return "sees variant \(word("variant"))\(holdout) of \(word("experiment"))\(step())"
        case "converted":
            let cause =
                entry["event"].map(shown) ?? entry["milestone"].map(shown) ?? "its condition"
            return "converted by \(cause) of \(word("occurred_at"))"
        case "suppressed": return "an action was withheld\(step()): \(word("reason"))"
        case "stale": return stale(entry)
        case "migrated":
            return "moved to version \(word("version"))\(step(", at "))\(audit(entry))"
        case "reset": return "put back\(step(" to "))\(audit(entry))"
        case "skipped": return "an operator skipped \(word("step"))\(audit(entry))"
        case "paused": return "paused with its workflow\(audit(entry))"
        case "forgotten": return "the customer was forgotten\(audit(entry))"
        case "merged":
            return entry["from"] == entry["into"]
                ? "another record was merged into this customer's"
                : "went from record \(word("from")) to record \(word("into"))"
        case "ended":
            let why = entry["reason"]?.string.map { ": \($0)" } ?? ""
            return word("status") + why + reason(entry)
        default: return remaining(entry)
        }
    }

    // MARK: Why

    /// What decided: the leaves of a condition, or what an action's end said.
    private static func reason(_ entry: JSONValue) -> String {
        guard let because = entry["because"], !because.isNull else { return "" }
        if let leaves = because.array {
            let told = leaves.prefix(3).map { leaf in
                let values = (leaf["values"]?.array ?? []).map { value in
                    value == ["missing": true] ? "missing" : brief(value)
                }
                let name = leaf["operator"].map(shown) ?? "?"
                return
                    "\(name)(\(values.joined(separator: ", "))) is \(leaf["result"].map(shown) ?? "?")"
            }
            let rest = leaves.count > 3 ? " and \(leaves.count - 3) more" : ""
            return told.isEmpty ? "" : ", since \(told.joined(separator: " and "))\(rest)"
        }
        if let detail = because["detail"], !detail.isNull { return " (\(brief(detail)))" }
        return because["error"].map { " (\(brief($0)))" } ?? ""
    }

    private static func variant(_ entry: JSONValue) -> String {
        guard let bucket = entry["bucket"] else { return "" }
        return ", bucket \(shown(bucket))"
    }

    private static func audit(_ entry: JSONValue) -> String {
        guard let number = entry["audit"]?.integer, number != 0 else { return "" }
        return " (audit \(number))"
    }

    // MARK: Kinds with more to say

    private static func input(_ entry: JSONValue) -> String {
        if let name = entry["name"]?.string {
            let bound = entry["bound_by"]?.string.map { ", taken by \($0)" } ?? ""
            let back = entry["look_back"]?.bool == true ? ", looking back" : ""
            let newer = entry["converts"]?.bool == false ? ", which converts a newer run" : ""
            return "event \(name)\(bound)\(back)\(newer)"
        }
        if let due = entry["timer"]?.string { return "the timer of \(due)" }
        if let invocation = entry["result"]?.string {
            return "\(short(invocation)) ended: \(outcome(entry["outcome"]))"
        }
        if let command = entry["command"]?.string {
            let why = entry["reason"]?.string.map { ": \($0)" } ?? ""
            return "the command \(command)\(why)\(audit(entry))"
        }
        if entry["merge"] != nil { return "a merge of two records" }
        if entry["look"] != nil { return "a look at what the turn had changed" }
        if let status = entry["outside"]?.string {
            let why = entry["reason"]?.string.map { ": \($0)" } ?? ""
            return "ended from outside, \(status)\(why)"
        }
        return remaining(entry)
    }

    private static func read(_ entry: JSONValue) -> String {
        var parts = (entry["values"]?.object ?? JSONObject()).map { pointer, value in
            value == ["absent": true] ? "\(pointer) is missing" : "\(pointer) is \(brief(value))"
        }
        parts += (entry["questions"]?.array ?? []).map { question in
            "\(question["ask"].map(brief) ?? "?") is \(question["answer"].map(brief) ?? "?")"
        }
        let rest = parts.count > 6 ? ", and \(parts.count - 6) more" : ""
        return parts.prefix(6).joined(separator: ", ") + rest
    }

    private static func stale(_ entry: JSONValue) -> String {
        if let invocation = entry["invocation"]?.string {
            return "a result of \(short(invocation)) came too late to matter"
        }
        if let command = entry["command"]?.string {
            return "the command \(command) fits no longer: the run stands elsewhere"
        }
        return "came too late to matter: \(remaining(entry))"
    }

    private static func attempted(_ entry: JSONValue) -> String {
        let name = entry["invocation"]?.string.map(short) ?? "?"
        let number = entry["number"].map(shown) ?? "?"
        let outcome = entry["outcome"]?.string ?? "under way"
        let doubt = entry["ambiguous"]?.bool == true ? ", perhaps arrived" : ""
        let late = entry["late_at"]?.string.map { ", too late to count (\($0))" } ?? ""
        return "attempt \(number) of \(name): \(outcome)\(doubt)\(late)"
    }

    private static func waiting(_ entry: JSONValue) -> String {
        let step = entry["step"].map(shown) ?? "?"
        if let invocation = entry["invocation"]?.string {
            return "at \(step) for the end of \(short(invocation))"
        }
        let events = (entry["events"]?.array ?? []).compactMap(\.string)
        let what = events.isEmpty ? "" : " for " + events.joined(separator: " or ")
        let word = entry["opens"]?.bool == true ? "for its window to open" : "until"
        let zone = entry["zone"]?.string.map { " (\($0))" } ?? ""
        let until = entry["due"]?.string.map { " \(word) \($0)\(zone)" } ?? ""
        let again = entry["reconsider_at"]?.string.map { ", looked at again \($0)" } ?? ""
        return "at \(step)\(what)\(until)\(again)"
    }

    // MARK: Words

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

    /// A value in at most 60 characters.
    private static func brief(_ value: JSONValue) -> String {
        let text = shown(value)
        return text.count > 60 ? "\(text.prefix(59))…" : text
    }
}
