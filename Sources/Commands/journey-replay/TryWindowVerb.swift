internal import CommandLine
internal import JSON
internal import TimeZones

extension ReplayCall {
    func tryWindow() throws {
        let path = parsed.argument("FILE") ?? ""
        let (window, named) = try readWindow(path)
        let name = parsed.option("timezone") ?? named ?? TimeZoneRules.utc.name
        let rules: TimeZoneRules
        do {
            rules = try TimeZoneDatabase().rules(named: name)
        } catch {
            throw ReplayFailure(.usage, error.description)
        }
        let state = window.state(at: try instant(), in: rules)
        var object = JSONObject([("inside", .bool(state.isOpen))])
        object["opens_at"] = state.opensAt.map { .string($0.description) }
        object["closes_at"] = state.closesAt.map { .string($0.description) }
        terminal.output.writeLine(JSONValue.object(object).pretty)
    }

    private func readWindow(_ path: String) throws -> (DailyWindow, zone: String?) {
        func refusal(_ sentence: String) -> ReplayFailure {
            ReplayFailure(.usage, "The window file \(path) \(sentence)")
        }
        let value = try ScopeFile.value(path)
        guard let object = value.object else {
            throw refusal("holds \(value.kind); write an object with \"start\" and \"end\".")
        }
        let names = ["start", "end", "days", "timezone"]
        for key in object.keys where !names.contains(key) {
            throw refusal("has \"\(key)\"" + Spelling.ending(for: key, among: names))
        }
        func time(_ key: String) throws -> LocalTime {
            guard let time = object[key]?.string.flatMap({ LocalTime($0) }) else {
                throw refusal("has no time as \"\(key)\"; write one such as \"09:00\".")
            }
            return time
        }
        let words = object["days"]?.array?.map { $0.string ?? $0.text }
        let days = try words?.map { word in
            guard let day = Weekday(rawValue: word) else {
                throw refusal("has the day \"\(word)\"; the days are mon tue wed thu fri sat sun.")
            }
            return day
        }
        if let days, days.isEmpty { throw refusal("has no day in \"days\"; leave it out for all.") }
        return (
            DailyWindow(
                start: try time("start"), end: try time("end"),
                days: Set(days ?? Weekday.allCases)),
            object["timezone"]?.string
        )
    }
}
