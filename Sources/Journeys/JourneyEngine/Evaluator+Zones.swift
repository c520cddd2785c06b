internal import JSON
internal import TimeZones
internal import WorkflowDefinitions

// Clocks: which zone counts, and what its clocks say. Every answer is kept with zone and release, so that a
// decision is made again without any tzdata.
extension Evaluator {
    /// Looks for the zone in the order of S6: the customer's, the step's, the workflow's, the
    /// configuration's, `Etc/UTC`. Names that are none go to `invalid`; nothing throws.
    mutating func findZone(
        step: String?, workflow: String?, invalid: inout [String]
    ) -> WaitZone {
        var candidates: [String] = []
        switch read(JSONPointer(tokens: ["customer", "timezone"])) {
        case .string(let name)?: candidates.append(name)
        case nil, .null?: break
        case .some(let other): candidates.append(other.text)
        }
        candidates += [step, workflow].compactMap { $0 }
        for name in candidates {
            if let version = release(of: name) { return WaitZone(name: name, version: version) }
            if !invalid.contains(name) { invalid.append(name) }
        }
        let configured = ask(["default_zone": true]) { facts in
            facts.defaultZone.map { .string($0) } ?? .absentMark
        }
        if let name = configured?.string {
            if let version = release(of: name) { return WaitZone(name: name, version: version) }
            if !invalid.contains(name) { invalid.append(name) }
        }
        let utc = TimeZoneRules.utc.name
        return WaitZone(name: utc, version: release(of: utc) ?? TimeZoneRules.utc.version)
    }

    /// The release of tzdata that knows the name; nil for a name that is no zone.
    private mutating func release(of name: String) -> String? {
        ask(["zone": .string(name)]) { facts in
            facts.zones.rules(named: name) == nil
                ? ["known": false] : ["tz": .string(facts.zones.version)]
        }?["tz"]?.string
    }

    /// A local time on the local date of an instant; of a time that the clock shows twice the first.
    mutating func instant(
        at time: LocalTime, onDateOf instant: Instant, in zone: WaitZone
    ) -> Instant? {
        ask([
            "local": .string(time.description), "on_date_of": .string(instant.description),
            "zone": .string(zone.name),
        ]) { facts in
            let rules = facts.zones.rules(named: zone.name) ?? .utc
            let date = rules.civilTime(at: instant).date
            let found = rules.instant(of: date, at: time, inOverlap: .earlier)
            return ["instant": .string(found.description), "tz": .string(zone.version)]
        }?["instant"]?.string.flatMap { Instant($0) }
    }

    /// Whether a window is open at an instant, and when that changes.
    mutating func state(
        of window: DailyWindow, at instant: Instant, in zone: WaitZone
    ) -> (isOpen: Bool, opensAt: Instant?, closesAt: Instant?)? {
        let answer = ask([
            "window": .object(window.json), "at": .string(instant.description),
            "zone": .string(zone.name),
        ]) { facts in
            let rules = facts.zones.rules(named: zone.name) ?? .utc
            let state = window.state(at: instant, in: rules)
            var json = JSONObject([("open", .bool(state.isOpen))])
            json["opens_at"] = state.opensAt.map { .string($0.description) }
            json["closes_at"] = state.closesAt.map { .string($0.description) }
            json["tz"] = .string(zone.version)
            return .object(json)
        }
        guard let isOpen = answer?["open"]?.bool else { return nil }
        return (
            isOpen, answer?["opens_at"]?.string.flatMap { Instant($0) },
            answer?["closes_at"]?.string.flatMap { Instant($0) }
        )
    }
}

extension RunMachine {
    /// The zone that counts for a step; names that are none are noted on the run, once each.
    ///
    /// - Parameter own: the zone that the step or `send` names.
    mutating func findZone(_ own: String?) -> WaitZone {
        var invalid: [String] = []
        let workflow = definition.timezone
        let zone = evaluate { $0.findZone(step: own, workflow: workflow, invalid: &invalid) }
        for name in invalid where !run.invalidZones.contains(name) {
            run.invalidZones.append(name)
            tell { $0.invalidZones.append(name) }
        }
        return zone
    }
}
