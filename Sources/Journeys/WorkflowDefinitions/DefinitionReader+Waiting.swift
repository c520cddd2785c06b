internal import JSON
internal import JourneyModel
internal import TimeZones

// Steps at which a run stands still, and the windows they share with actions.
extension DefinitionReader {
    mutating func delay(_ node: Node, _ id: StepID) -> Delay? {
        let what = "a delay step"
        guard
            let fields = fields(
                node, what,
                keys: Self.shared + [
                    "for", "until", "at", "follow", "next", "on_past", "on_invalid",
                ])
        else { return nil }
        var length: Delay.Length?
        switch (fields["for"], fields["until"]) {
        case (let node?, nil):
            length = duration(node, "\"for\"", .seconds(1)...Self.year).map { .duration($0) }
            for key in ["at", "follow", "on_past", "on_invalid"] {
                guard let stray = fields[key] else { continue }
                complain(stray, "The key \"\(key)\" belongs beside \"until\", not beside \"for\".")
            }
        case (nil, let node?):
            length = instant(node).map { .until($0) }
            if fields["on_past"] == nil {
                complain(
                    node,
                    "A delay \"until\" needs \"on_past\": where a run goes when that time is over.",
                    .missingKey)
            }
        case (nil, nil), (_?, _?):
            complain(node, "A delay step needs exactly one of \"for\" and \"until\".")
        }
        var literal = Duration.zero
        if case .duration(let duration)? = length { literal = duration }
        if literal >= .seconds(60) { pacingSteps.insert(id) }
        let next = required("next", in: fields, what)
            .flatMap { edge($0, from: id, length: literal) }
        let onPast = fields["on_past"].flatMap { edge($0, from: id) }
        let onInvalid = fields["on_invalid"].flatMap { edge($0, from: id) }
        let at = fields["at"].flatMap { localTime($0, "\"at\"") }
        let follows = fields["follow"].flatMap { boolean($0, "\"follow\"") }
        guard let length, let next else { return nil }
        return Delay(
            length: length, at: at, follows: follows ?? false, next: next, onPast: onPast,
            onInvalid: onInvalid)
    }

    mutating func localTime(_ node: Node, _ what: String) -> LocalTime? {
        if let time = node.value.string.flatMap({ LocalTime($0) }) { return time }
        complain(
            node,
            "\(capitalised(what)) is a local time with two digits each, \"00:00\" to \"23:59\".")
        return nil
    }

    mutating func instant(_ node: Node) -> Value? {
        let value = value(node)
        if let value { note(.instant(value, at: node.pointer)) }
        return value
    }

    mutating func waitUntil(_ node: Node, _ id: StepID) -> WaitUntil? {
        let what = "a wait_until step"
        guard
            let fields = fields(
                node, what, keys: Self.shared + ["branches", "since", "timeout", "on_timeout"],
                refused: [
                    "next": "A wait_until step has no \"next\"; its branches and on_timeout "
                        + "lead on."
                ])
        else { return nil }
        var branches: [WaitUntil.Branch] = []
        let items =
            required("branches", in: fields, what)
            .flatMap { self.items($0, "the list of branches") } ?? []
        for item in items {
            if let branch = waitBranch(item, id) { branches.append(branch) }
        }
        refuseTwins(items)
        let since = fields["since"].map { self.since($0) } ?? .step
        let timeout = required("timeout", in: fields, what).flatMap { self.timeout($0) }
        var literal = Duration.zero
        if case .duration(let duration)? = timeout { literal = duration }
        let onTimeout = required("on_timeout", in: fields, what)
            .flatMap { edge($0, from: id, length: literal) }
        guard let since, let timeout, let onTimeout, !branches.isEmpty,
            branches.count == items.count
        else { return nil }
        return WaitUntil(branches: branches, since: since, timeout: timeout, onTimeout: onTimeout)
    }

    private mutating func waitBranch(_ node: Node, _ id: StepID) -> WaitUntil.Branch? {
        let what = "a branch of a wait"
        guard
            let fields = fields(
                node, what,
                keys: ["id", "event", "where", "unless", "correlate", "if", "next"])
        else { return nil }
        let name = branchID(fields, what)
        var cause: WaitUntil.Branch.Cause?
        var names: [String]?
        if let node = self.cause(fields, what) {
            cause = condition(node).map { .condition($0) }
        } else if fields["event"] != nil, fields["if"] == nil,
            let match = eventMatch(fields, what)
        {
            cause = .event(match)
            names = match.names
        }
        let next = required("next", in: fields, what)
            .flatMap { edge($0, from: id, binds: names) }
        guard let name, let cause, let next else { return nil }
        return WaitUntil.Branch(id: name, cause: cause, next: next)
    }

    private mutating func since(_ node: Node) -> WaitUntil.Since? {
        if node.value.string == "step" { return .step }
        if node.value.string == "run" { return .run }
        guard node.value.object != nil else {
            complain(node, "\"since\" is \"step\", \"run\" or {\"step\": id}.")
            return nil
        }
        return stepReference(node, "\"since\"").map { .entryInto($0) }
    }

    /// A duration, or a value that is an instant.
    private mutating func timeout(_ node: Node) -> WaitUntil.Timeout? {
        if let text = node.value.string, Instant(text) == nil {
            if text.utf8.first.map({ (48...57).contains($0) }) == true {
                complain(
                    node,
                    "\"\(text)\" is not an instant; write RFC 3339 such as \"2026-11-30T10:00:00Z\".",
                    .type)
                return nil
            }
            return duration(text, node, "the timeout", .seconds(1)...Self.year)
                .map { .duration($0) }
        }
        return instant(node).map { .until($0) }
    }

    mutating func timeWindow(_ node: Node, _ id: StepID) -> TimeWindow? {
        let what = "a time_window step"
        guard
            let fields = fields(
                node, what,
                keys: Self.shared + Self.windowKeys + ["on_outside", "on_skip", "next"])
        else { return nil }
        let window = sendWindow(fields, what)
        let skips: Bool
        switch fields["on_outside"]?.value.string {
        case "skip": skips = true
        case "wait",
            nil where fields["on_outside"]?.value.string != nil || fields["on_outside"] == nil:
            skips = false
        default:
            skips = false
            if let node = fields["on_outside"] {
                complain(
                    node, "\"on_outside\" is wait or skip.",
                    fix: node.value.string.flatMap {
                        Spelling.nearestWord(to: $0, among: ["wait", "skip"])
                    })
            }
        }
        let onSkip = fields["on_skip"].flatMap { edge($0, from: id) }
        if skips, fields["on_skip"] == nil {
            complain(
                node, "A time_window with \"on_outside\": \"skip\" needs \"on_skip\"; add it.",
                .missingKey)
        }
        if !skips, let stray = fields["on_skip"] {
            complain(stray, "The key \"on_skip\" belongs beside \"on_outside\": \"skip\".")
        }
        let next = required("next", in: fields, what).flatMap { edge($0, from: id) }
        guard let window, let next else { return nil }
        return TimeWindow(
            window: window.window, timezone: window.timezone, onSkip: onSkip, next: next)
    }

    static let windowKeys = ["start", "end", "days", "timezone"]

    /// `start`, `end`, `days` and `timezone` of one object.
    mutating func sendWindow(_ fields: Fields, _ what: String) -> SendWindow? {
        let start = required("start", in: fields, what).flatMap { localTime($0, "the start") }
        let end = required("end", in: fields, what).flatMap { localTime($0, "the end") }
        let days = fields["days"].map { self.days($0) }
        let zone = fields["timezone"].flatMap { timezone($0) }
        guard let start, let end else { return nil }
        var window = DailyWindow(start: start, end: end)
        if let days { window.days = days }
        return SendWindow(window: window, timezone: zone)
    }

    private mutating func days(_ node: Node) -> Set<Weekday> {
        var days: Set<Weekday> = []
        for item in items(node, "the list of days", most: 7) ?? [] {
            guard let day = word(item, "a day", Weekday.self) else { continue }
            if !days.insert(day).inserted {
                complain(item, "The day \"\(day.rawValue)\" stands twice; leave one out.")
            }
        }
        return days
    }

    /// A zone of the tz database.
    mutating func timezone(_ node: Node) -> String? {
        guard let text = string(node, "the timezone") else { return nil }
        guard TimeZoneRules.isName(text) else {
            complain(
                node, "\"\(text)\" is not an IANA zone name; write one like Europe/Berlin.", .name)
            return nil
        }
        if let zones = context?.zones, !zones.contains(text) {
            complain(
                node, "The tz database has no zone \"\(text)\"; write one like Europe/Berlin.",
                .name,
                fix: Spelling.nearestWord(to: text, among: zones.sorted()))
            return nil
        }
        return text
    }
}
