internal import JSON
internal import JourneyEngine
internal import JourneyModel
package import TimeZones

extension SimulationCase {
    /// A longer file is refused unread.
    package static let longestFile = 1_048_576

    /// Reads a case file, `Workflows/simulations/<workflow>/<case>.json`.
    ///
    /// - Throws: ``SimulationCaseError`` with every problem of the file.
    package static func parse(_ bytes: [UInt8]) throws(SimulationCaseError) -> SimulationCase {
        func refuse(_ sentence: String) -> SimulationCaseError {
            SimulationCaseError(problems: [.init(pointer: JSONPointer(), sentence: sentence)])
        }
        guard bytes.count <= longestFile else {
            throw refuse("The file has \(bytes.count) bytes; at most \(longestFile) are read.")
        }
        let root: JSONValue
        do throws(JSONError) {
            root = try JSONParser.parse(bytes)
        } catch {
            throw refuse("This is not JSON: \(error.description).")
        }
        var reader = CaseReader()
        let result = reader.simulationCase(CasePlace(value: root, pointer: JSONPointer()))
        guard reader.problems.isEmpty, let result else {
            throw SimulationCaseError(problems: reader.problems)
        }
        return result
    }

    /// What is to be played without a case: nothing is expected of it.
    ///
    /// - Parameters:
    ///   - events: a list as a case has it, or one such object a line.
    ///   - customer: the attributes as a JSON object; nil for none.
    /// - Throws: ``SimulationCaseError``; pointers begin with `/events` or `/customer`, for whose file it is.
    package static func play(
        events: [UInt8], customer: [UInt8]?, until: Instant
    ) throws(SimulationCaseError) -> SimulationCase {
        let happenings = try Self.list(events)
        var attributes: JSONValue = [:]
        if let customer { attributes = try Self.json(customer, "customer") }
        var reader = CaseReader()
        let result = reader.simulationCase(
            CasePlace(
                value: [
                    "customer": attributes, "events": happenings,
                    "until": .string(until.description), "expect": [],
                ], pointer: JSONPointer()))
        guard reader.problems.isEmpty, var result else {
            throw SimulationCaseError(problems: reader.problems)
        }
        result.expectations = nil
        return result
    }

    /// One list, or an object a line.
    private static func list(_ bytes: [UInt8]) throws(SimulationCaseError) -> JSONValue {
        let isList = bytes.first { !($0 == 0x20 || (0x09...0x0D).contains($0)) } == 0x5B
        if isList || bytes.count > longestFile { return try json(bytes, "events") }
        var items: [JSONValue] = []
        for line in bytes.split(separator: 0x0A) where line.contains(where: { $0 > 0x20 }) {
            items.append(try json(Array(line), "events", String(items.count)))
        }
        return .array(items)
    }

    private static func json(
        _ bytes: [UInt8], _ place: String...
    ) throws(SimulationCaseError) -> JSONValue {
        var sentence = "The file has \(bytes.count) bytes; at most \(longestFile) are read."
        if bytes.count <= longestFile {
            do throws(JSONError) {
                return try JSONParser.parse(bytes)
            } catch {
                sentence = "This is not JSON: \(error.description)."
            }
        }
        throw SimulationCaseError(
            problems: [.init(pointer: JSONPointer(tokens: place), sentence: sentence)])
    }
}

/// A value of the file with where it stands.
private struct CasePlace {
    let value: JSONValue
    let pointer: JSONPointer

    func member(_ key: String) -> CasePlace? {
        value[key].map { CasePlace(value: $0, pointer: pointer.appending(key)) }
    }
}

/// Reads a case and goes on after a problem, so that one look at the file shows them all.
private struct CaseReader {
    private(set) var problems: [SimulationCaseError.Problem] = []

    mutating func simulationCase(_ root: CasePlace) -> SimulationCase? {
        guard
            hasOnly(
                root, required: ["customer", "events", "until", "expect"],
                optional: ["timezone", "features", "from", "messaging", "effects", "ends"])
        else { return nil }
        var customer = root.member("customer").flatMap { object($0) } ?? JSONObject()
        if let zone = root.member("timezone") {
            let name = text(zone)
            if let name, !TimeZoneRules.isName(name) {
                add(
                    zone,
                    "\"\(name)\" is not the name of a time zone; write one like Europe/Berlin.")
            }
            customer["timezone"] = name.map { .string($0) }
        }
        let features = root.member("features").map { self.features($0) } ?? [:]
        let from = root.member("from").flatMap { instant($0) }
        let happenings = list(root.member("events"), most: 10_000) { $0.happening($1) }
        for (index, pair) in zip(happenings, happenings.dropFirst()).enumerated()
        where pair.1.at < pair.0.at {
            problems.append(
                .init(
                    pointer: JSONPointer(tokens: ["events", String(index + 1), "at"]),
                    sentence: "This is earlier than the event before; list events by their time."))
        }
        let answers = list(root.member("effects"), most: 1_000) { $0.answer($1) }
        let messaging = root.member("messaging").map { place in
            Set(list(place, most: 1_000) { $0.text($1) })
        }
        let expectations = list(root.member("expect"), most: 100_000) { $0.expectation($1) }
        let ending = root.member("ends").flatMap { self.ending($0) }
        guard let until = root.member("until").flatMap({ instant($0) }) else { return nil }
        return SimulationCase(
            customer: customer, features: features, from: from, happenings: happenings,
            answers: answers, messaging: messaging, until: until, expectations: expectations,
            ending: ending)
    }

    // MARK: Parts

    private mutating func happening(_ place: CasePlace) -> SimulationCase.Happening? {
        let kinds = ["event", "start", "features"].filter { place.member($0) != nil }
        guard kinds.count < 2 else {
            add(
                place,
                "One thing happens at a time; write \"\(kinds[0])\" and \"\(kinds[1])\" apart.")
            return nil
        }
        let kind = kinds.first ?? "event"
        let optional = kind == "event" ? ["properties"] : kind == "start" ? ["key"] : []
        guard hasOnly(place, required: ["at", kind], optional: optional) else { return nil }
        let at = place.member("at").flatMap { instant($0) }
        let what = place.member(kind).flatMap { self.what($0, kind, in: place) }
        guard let at, let what else { return nil }
        return .init(at: at, what)
    }

    private mutating func what(
        _ place: CasePlace, _ kind: String, in whole: CasePlace
    ) -> SimulationCase.Happening.What? {
        switch kind {
        case "start":
            let key = whole.member("key").flatMap { text($0) }
            return text(place).map { .start(WorkflowID($0), key: key) }
        case "features": return .features(features(place))
        case _:
            let name = text(place)
            let properties = whole.member("properties").flatMap { object($0) }
            return name.map { .event($0, properties: properties ?? JSONObject()) }
        }
    }

    /// `{"<id>": {"allowed", "unlimited"?, "balance"?, "type"?}}`.
    private mutating func features(_ place: CasePlace) -> [String: FeatureAnswer] {
        var features: [String: FeatureAnswer] = [:]
        for id in object(place)?.keys ?? [] {
            guard let inner = place.member(id),
                hasOnly(
                    inner, required: ["allowed"], optional: ["unlimited", "balance", "type"]),
                let allowed = inner.member("allowed").flatMap({ flag($0) })
            else { continue }
            let balance = inner.member("balance")
            if let balance, balance.value.number == nil {
                add(balance, "This is \(balance.value.kind); write a number.")
            }
            features[id] = FeatureAnswer(
                allowed: allowed,
                unlimited: inner.member("unlimited").flatMap { flag($0) } ?? false,
                balance: balance?.value.number,
                type: inner.member("type").flatMap { text($0) }
                    ?? (balance == nil ? "boolean" : "metered"))
        }
        return features
    }

    private mutating func answer(_ place: CasePlace) -> SimulationCase.Answer? {
        guard hasOnly(place, required: ["step"], optional: ["result", "error", "after"]) else {
            return nil
        }
        if place.member("result") != nil, let error = place.member("error") {
            add(error, "An effect ends in a \"result\" or in an \"error\"; leave one out.")
        }
        let after = place.member("after").flatMap { duration($0) }
        let error = place.member("error").flatMap { text($0) }
        let outcome = error.map { Self.outcome(of: $0) }
        guard let step = place.member("step").flatMap({ text($0) }) else { return nil }
        return .init(
            step: StepID(step),
            outcome: outcome ?? place.member("result").map { .succeeded($0.value) },
            after: after ?? .zero)
    }

    /// The words that a run's history uses for the ends that are not a plain failure.
    private static func outcome(of error: String) -> EffectOutcome {
        switch error {
        case "timeout": .timedOut
        case "expired": .expired
        case "ambiguous": .unknown
        case _: .failed(error: error, detail: .null)
        }
    }

    private mutating func expectation(_ place: CasePlace) -> SimulationCase.Expectation? {
        guard
            hasOnly(place, required: ["at", "step", "type"], optional: ["outlet", "effect"])
        else { return nil }
        let at = place.member("at").flatMap { instant($0) }
        let step = place.member("step").flatMap { text($0) }
        let type = place.member("type").flatMap { text($0) }
        let outlet = place.member("outlet").flatMap { text($0) }
        let effect = place.member("effect").flatMap { text($0) }
        guard let at, let step, let type else { return nil }
        return .init(at: at, step: StepID(step), type: type, outlet: outlet, effect: effect)
    }

    private mutating func ending(_ place: CasePlace) -> SimulationCase.Ending? {
        guard hasOnly(place, required: ["status"], optional: ["reason", "converted"]) else {
            return nil
        }
        let reason = place.member("reason").flatMap { text($0) }
        let converted = place.member("converted").flatMap { flag($0) }
        guard let status = place.member("status"), let word = text(status) else { return nil }
        if RunStatus(word: word, reason: nil) == nil {
            add(
                status,
                "\"\(word)\" is no status; write waiting, completed, exited, failed, cancelled or "
                    + "superseded.")
        }
        return .init(status: word, reason: reason, converted: converted)
    }

    // MARK: Leaves

    private mutating func add(_ place: CasePlace, _ sentence: String) {
        problems.append(.init(pointer: place.pointer, sentence: sentence))
    }

    /// Reports keys that are missing or not known; false when the value is no object.
    private mutating func hasOnly(
        _ place: CasePlace, required: [String], optional: [String]
    ) -> Bool {
        guard let members = object(place) else { return false }
        for key in required where members[key] == nil {
            add(place, "\"\(key)\" is missing; add it.")
        }
        for key in members.keys where !(required + optional).contains(key) {
            problems.append(
                .init(
                    pointer: place.pointer.appending(key),
                    sentence: "\"\(key)\" is not known here; the keys are "
                        + (required + optional).joined(separator: ", ") + "."))
        }
        return true
    }

    private mutating func list<Element>(
        _ place: CasePlace?, most: Int,
        _ read: (inout CaseReader, CasePlace) -> Element?
    ) -> [Element] {
        guard let place else { return [] }
        guard let items = place.value.array else {
            add(place, "This is \(place.value.kind); write an array.")
            return []
        }
        guard items.count <= most else {
            add(place, "This holds \(items.count) items; at most \(most) are read.")
            return []
        }
        return items.enumerated().compactMap { index, item in
            read(&self, CasePlace(value: item, pointer: place.pointer.appending(index)))
        }
    }

    private mutating func object(_ place: CasePlace) -> JSONObject? {
        if let object = place.value.object { return object }
        add(place, "This is \(place.value.kind); write an object.")
        return nil
    }

    private mutating func text(_ place: CasePlace) -> String? {
        if let text = place.value.string, !text.isEmpty { return text }
        add(place, "This is \(place.value.kind); write a string that is not empty.")
        return nil
    }

    private mutating func flag(_ place: CasePlace) -> Bool? {
        if let flag = place.value.bool { return flag }
        add(place, "This is \(place.value.kind); write true or false.")
        return nil
    }

    private mutating func instant(_ place: CasePlace) -> Instant? {
        if let instant = place.value.string.flatMap({ Instant($0) }) { return instant }
        add(place, "This is no instant; write one like 2026-11-30T10:00:00Z.")
        return nil
    }

    private mutating func duration(_ place: CasePlace) -> Duration? {
        if let duration = place.value.string.flatMap({ Duration(iso8601: $0) }) { return duration }
        add(place, "This is no duration; write one like PT10S or P2D.")
        return nil
    }
}
