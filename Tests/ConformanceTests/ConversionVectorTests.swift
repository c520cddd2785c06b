import JSON
import JourneyEngine
import JourneyModel
import Testing
import TimeZones
import WorkflowDefinitions

/// Whom an outcome converts, of Nuxie's watches: each is a run here, entered at its basis.
@Suite struct ConversionVectorTests {
    /// Rows about a conversion's authored origin or about screens, which a server has not.
    private static let deviceOnly = [
        "internal authored origin selects older", "invalid explicit version cannot fall back",
        "partial explicit context cannot fall back",
        "raw matching IDs cannot manufacture direct context",
        "internal origin survives analytics redaction",
        "origin bound to another occurrence cannot convert", "first actual display anchors",
        "later display cannot reset basis",
    ]

    private func milliseconds(_ json: JSONValue?) -> Instant {
        Instant(milliseconds: json?.integer ?? 0)
    }

    private func makeWorld(_ watch: JSONValue) -> EngineWorld {
        let goal = watch["goal"]
        let minutes = goal?["attribution"]?["window"]?["amount"]?.integer ?? 0
        let wait = Step(
            id: StepID("wait"),
            action: .delay(Delay(length: .duration(.seconds(86_400 * 80)), next: .end)))
        var world = EngineWorld(
            [wait],
            goal: Goal(
                match: EventMatch(names: [goal?["criterion"]?["eventName"]?.string ?? ""]),
                within: .seconds(minutes * 60)),
            facts: Facts(
                attributes: JSONObject(), now: milliseconds(watch["basis"]?["occurredAt"])))
        if let conversion = watch["conversion"] {
            world.run.convertedAt = milliseconds(conversion["occurredAt"])
        }
        return world
    }

    /// Of the runs for which the event is evidence the newest converts, unless it was converted before.
    private func convert(_ row: JSONValue) -> Set<String> {
        let watches = row["watches"]?.object ?? JSONObject()
        // Of equal bases the later in the file is the newer.
        var worlds = watches.enumerated().map { place, watch in
            (id: watch.key, place: place, world: makeWorld(watch.value))
        }.sorted {
            ($0.world.run.enteredAt, $0.place) < ($1.world.run.enteredAt, $1.place)
        }
        let json = row["event"]
        let name = json?["name"]?.string ?? ""
        let accepted = milliseconds(row["acceptedAt"])
        // What an app says of a purchase is a client's word.
        let event = EngineWorld.event(
            name, at: milliseconds(json?["occurredAt"]), received: accepted,
            trust: name.hasPrefix("$purchase") ? .client : .provider,
            properties: json?["properties"]?.object ?? JSONObject())
        let logged = LoggedEvent(ordinal: 2, recordedAt: accepted, event: event)
        let newest = worlds.lastIndex { entry in
            entry.world.engine.matchesGoal(logged, entry.world.run, facts: entry.world.facts)
        }
        for index in worlds.indices {
            worlds[index].world.facts.now = accepted
            worlds[index].world.give(event, mayConvert: index == newest)
        }
        return Set(worlds.filter { $0.world.run.convertedAt != nil }.map(\.id))
    }

    @Test func `an outcome converts whom the public vectors say`() throws {
        guard let folder = ConformanceFolder("nuxie/newer") else {
            return
        }
        let own = [
            "same timestamp earlier event excluded": "both ends of a goal's window count (S21)",
            "future clock clamps before selection":
                "a time is clamped when it is more than 24 h ahead (S5)",
            "evidence outside backdate horizon ignored":
                "evidence is late after 31 days and this is two seconds less (S21)",
        ]
        let names = Self.deviceOnly.map { ($0, "a server knows no screens and no origins") }
        var deviations = Deviations(
            own.merging(names, uniquingKeysWith: { first, _ in first }))
        let rows = try folder.json("conversion-watch.json")["vectors"]?.array ?? []
        #expect(rows.count == 20)
        for row in rows {
            let name = row["name"]?.string ?? ""
            if Self.deviceOnly.contains(name), deviations.passesBy(name) { continue }
            let expected = (row["expectedConversions"]?.object ?? JSONObject()).keys
            deviations.check(name, convert(row), Set(expected))
        }
        deviations.finish()
    }
}
