internal import JSON
internal import JourneyModel
internal import TimeZones

// What starts a run.
extension DefinitionReader {
    private static let triggers: [(key: String, beside: [String])] = [
        ("event", []), ("segment", ["on"]), ("date", ["minus", "plus", "at", "late"]),
        ("schedule", ["audience", "rate"]), ("api", []),
    ]

    mutating func trigger(_ node: Node) -> Entry.Trigger? {
        let keys = Self.triggers.map(\.key)
        guard let object = node.value.object else {
            complain(node, "A trigger is an object, not \(node.value.kind).")
            return nil
        }
        let present = Self.triggers.filter { object[$0.key] != nil }
        guard let trigger = present.first, present.count == 1 else {
            if present.isEmpty, let stranger = object.keys.first,
                let near = Spelling.nearestWord(to: stranger, among: keys)
            {
                problems.add(
                    node.pointer.appending(stranger),
                    "The key \"\(stranger)\" is not one of a trigger; use \(alternatives(keys)).",
                    code: .unknownKey, fix: near)
            } else {
                complain(node, "A trigger has exactly one of \(alternatives(keys)).")
            }
            return nil
        }
        let what = "a trigger by \(trigger.key)"
        guard let fields = fields(node, what, keys: [trigger.key] + trigger.beside),
            let cause = fields[trigger.key]
        else { return nil }
        switch trigger.key {
        case "event": return eventNames(cause).map { .event(names: $0) }
        case "segment":
            let id = segmentName(cause)
            let turn = required("on", in: fields, what)
                .flatMap { word($0, "\"on\"", SegmentTurn.self) }
            guard let id, let turn else { return nil }
            return .segment(id, on: turn)
        case "date": return date(cause, fields).map { .date($0) }
        case "schedule": return schedule(cause, fields, what).map { .schedule($0) }
        default:
            if cause.value.bool == true { return .api }
            complain(cause, "\"api\" is true; for another trigger use \(alternatives(keys)).")
            return nil
        }
    }

    private mutating func date(_ node: Node, _ fields: Fields) -> DateTrigger? {
        scope = .entryWithoutEvent
        defer { scope = .anywhere }
        let value = instant(node)
        let longest: ClosedRange<Duration> = .zero...Self.year
        var offset = Duration.zero
        switch (fields["plus"], fields["minus"]) {
        case (let plus?, nil): offset = duration(plus, "\"plus\"", longest) ?? .zero
        case (nil, let minus?): offset = .zero - (duration(minus, "\"minus\"", longest) ?? .zero)
        case (_?, let minus?):
            complain(minus, "A date has at most one of \"plus\" and \"minus\"; leave one out.")
        case (nil, nil): break
        }
        let at = fields["at"].flatMap { localTime($0, "\"at\"") }
        let late = fields["late"].flatMap { duration($0, "\"late\"", longest) }
        guard let value else { return nil }
        let date = DateTrigger(value: value, offset: offset, at: at, late: late ?? .zero)
        guard let root = date.root else {
            complain(
                node,
                "The date is no fixed one: it is read from the customer, such as "
                    + "{\"ref\": \"/subscription/expires_at\"}; for a day of the calendar use "
                    + "\"schedule\".")
            return nil
        }
        if !["customer", "subscription"].contains(root) {
            problems.add(
                node.pointer,
                "The date is read from /customer or /subscription, whose changes are watched, not "
                    + "from /\(root).", code: .pointer)
            return nil
        }
        return date
    }

    private mutating func schedule(
        _ node: Node, _ fields: Fields, _ what: String
    ) -> ScheduleTrigger? {
        scope = .entryWithoutEvent
        defer { scope = .anywhere }
        var cron: CronExpression?
        if let text = string(node, "the schedule") {
            do throws(CronError) {
                cron = try CronExpression(text)
            } catch {
                complain(
                    node, "The schedule \"\(text)\" cannot be read: \(error.reason).", .schedule)
            }
        }
        if let cron, !cron.canMatch {
            complain(node, "The schedule \"\(cron)\" names a day that no month has.", .schedule)
        }
        let audience = required("audience", in: fields, what).flatMap { condition($0) }
        let rate = fields["rate"].flatMap { integer($0, "the rate a second", 1...10_000) }
        guard let cron, let audience else { return nil }
        return ScheduleTrigger(cron: cron, audience: audience, rate: rate ?? 500)
    }

    /// The id of a segment that exists.
    mutating func segmentName(_ node: Node) -> SegmentID? {
        guard let text = plainName(node, "a segment") else { return nil }
        let id = SegmentID(text)
        if let known = context?.segments, !known.contains(id) {
            complain(
                node,
                "There is no segment \"\(text)\"; write Workflows/segments/\(text).json or correct "
                    + "the name.", .name,
                fix: Spelling.nearestWord(to: text, among: known.map(\.text).sorted()))
        }
        return id
    }

    /// `[a-z0-9][a-z0-9-]{0,62}`.
    mutating func plainName(_ node: Node, _ what: String) -> String? {
        if let text = node.value.string, isPlainName(text) { return text }
        complain(
            node,
            "\(capitalised(what)) is named by lowercase letters, digits and hyphens, at most 63 in "
                + "all, beginning with a letter or digit.")
        return nil
    }
}
