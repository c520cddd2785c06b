package import Connectors
internal import JSON
internal import JourneyEngine
package import JourneyModel
package import TimeZones

/// Decides turns: reads deliveries, gives each input to the customer's runs and workflows in order,
/// and returns the rows to write. Pure: the same turn always gives the same result.
package struct TurnDecider: Sendable {
    package let definitions: DefinitionSet
    private let connectors: [String: Connector]
    let zones: TimeZoneSet
    let defaultZone: String?
    let outbound: OutboundChoice?

    /// - Parameters:
    ///   - zones: the rules of every zone, with their release.
    ///   - defaultZone: the configuration's zone; nil for none.
    ///   - outbound: which run events somebody wants to be told of; nil for none.
    package init(
        definitions: DefinitionSet, connectors: [String: Connector],
        zones: TimeZoneSet = .utcOnly, defaultZone: String? = nil,
        outbound: OutboundChoice? = nil
    ) {
        self.definitions = definitions
        self.connectors = connectors
        self.zones = zones
        self.defaultZone = defaultZone
        self.outbound = outbound
    }

    /// What this process lacks to decide the turn; nil when it lacks nothing. A caller that takes the turn
    /// all the same loses what could not be read: asking first is what keeps it.
    package func lacks(for turn: CustomerTurn) -> Unserved? {
        for run in turn.runs
        where run.status.isLive && definitions.version(run.version, of: run.workflow) == nil {
            return Unserved(
                sentence: "the run \(run.id) follows version \(run.version) of \(run.workflow), "
                    + "which this program cannot read; run the program that published it")
        }
        for input in turn.inputs {
            guard let delivery = input.content.mapped, connectors[delivery.connector] == nil
            else { continue }
            return Unserved(
                sentence: "the delivery \(delivery.id) came through the connector "
                    + "\(delivery.connector), which is not configured here; configure it")
        }
        return nil
    }

    /// Decides one customer's turn. Every input of the turn is taken, whatever it turns out to be.
    package func decide(_ turn: CustomerTurn) -> TurnResult {
        // A repeat may wait in the same turn as the delivery it repeats.
        var told: [EventID: Event] = [:]
        let inputs = turn.inputs.map { input in
            let read = read(input, told: told)
            if let event = read.fresh, told[event.id] == nil { told[event.id] = event }
            return read
        }
        var decision = CustomerDecision(
            turn: withRaw(turn), definitions: definitions, inputs: inputs, zones: zones,
            defaultZone: defaultZone, outbound: outbound)
        decision.keepingConnectors = Set(
            connectors.filter { $0.value.transfer == .keep }.keys)
        return decision.decide()
    }

    /// Looked-back events with the provider's object where their bytes were loaded: `/event/raw` reads the
    /// same whether an event is new or was stored before.
    private func withRaw(_ turn: CustomerTurn) -> CustomerTurn {
        if turn.bodies.isEmpty { return turn }
        var turn = turn
        for place in turn.log.indices {
            let event = turn.log[place].event
            guard let body = turn.bodies[event.id], let connector = connectors[event.connector]
            else { continue }
            turn.log[place].event.raw =
                connector.event(
                    body: body, receivedAt: event.receivedAt,
                    providerEventID: event.providerEventID
                ).raw
        }
        return turn
    }

    /// Maps a delivery's stored bytes to its event; other inputs carry theirs.
    ///
    /// - Parameter told: the events of earlier inputs of the turn.
    private func read(_ input: TurnInput, told: [EventID: Event]) -> ReadInput {
        switch input.content {
        case .result(let result):
            return ReadInput(input: input, content: .result(result))
        case .command(let command):
            return ReadInput(input: input, content: .command(command))
        case .start(let start): return ReadInput(input: input, content: .start(start))
        case .exit(let exit): return ReadInput(input: input, content: .exit(exit))
        case .schedule(let schedule):
            return ReadInput(input: input, content: .schedule(schedule))
        case .event(let event):
            return ReadInput(input: input, content: .event(event, mark: nil))
        case .replay(let delivery, let replay):
            return ReadInput(input: input, content: replayed(delivery, replay, told: told))
        case .delivery(let delivery):
            let event = event(of: delivery)
            return ReadInput(
                input: input,
                content: .event(
                    event, mark: mark(delivery, as: event, earlier: told[event.id])))
        }
    }

    /// What a delivery that is offered again is to its customer.
    private func replayed(
        _ delivery: StoredDelivery, _ replay: Replay, told: [EventID: Event]
    ) -> ReadInput.Content {
        let id = Event.makeID(
            connector: delivery.connector, providerEventID: delivery.providerEventID)
        let earlier = delivery.earlier ?? told[id]
        guard replay.remaps else {
            return .replay(earlier.flatMap { $0.isForgotten ? nil : $0 }, replay)
        }
        let event = event(of: delivery)
        if let earlier {
            // What is no longer kept cannot be compared, so nothing takes its place.
            if earlier.isForgotten || Connector.sameEvent(earlier.asMapped, event) {
                return .replay(nil, replay)
            }
        }
        return .revision(event, of: earlier, replay, mark: ownMark(delivery, as: event))
    }

    private func event(of delivery: StoredDelivery) -> Event {
        guard let connector = connectors[delivery.connector] else {
            return .unreadable(
                delivery, reason: "no connector named \(delivery.connector) is configured")
        }
        return connector.event(
            body: delivery.body, receivedAt: delivery.receivedAt,
            providerEventID: delivery.providerEventID)
    }

    private func mark(
        _ delivery: StoredDelivery, as event: Event, earlier: Event?
    ) -> DeliveryMark {
        if let earlier = delivery.earlier ?? earlier {
            if Connector.sameEvent(earlier.asMapped, event) {
                return DeliveryMark(delivery: delivery.id, state: .duplicate)
            }
            return DeliveryMark(
                delivery: delivery.id, state: .conflict,
                reason: "the provider sent another event under an id it had used: "
                    + "\(earlier.name) before, \(event.name) now")
        }
        return ownMark(delivery, as: event)
    }

    private func ownMark(_ delivery: StoredDelivery, as event: Event) -> DeliveryMark {
        if event.name == "connector.unreadable" {
            return DeliveryMark(
                delivery: delivery.id, state: .unreadable,
                reason: event.properties["reason"]?.string)
        }
        return DeliveryMark(delivery: delivery.id, state: .processed)
    }
}

/// An input with its event read from the bytes.
struct ReadInput {
    enum Content {
        /// `mark` for a delivery; a duplicate or conflict is marked and goes no further.
        case event(Event, mark: DeliveryMark?)
        case result(EffectResult)
        case command(CustomerCommand)
        case start(StartInput)
        case exit(ExitRequest)
        case schedule(ScheduleInput)
        /// A stored event that may start workflows once more; nil for one that does nothing.
        case replay(Event?, Replay)
        /// The next revision of an event; `of` is nil where none was ever read.
        case revision(Event, of: Event?, Replay, mark: DeliveryMark)
    }

    let input: TurnInput
    let content: Content

    /// The event that runs may take; nil for results and for repeats of an event.
    var fresh: Event? {
        switch content {
        case .event(let event, mark: nil): event
        case .event(let event, let mark?):
            switch mark.state {
            case .processed, .unreadable: event
            case .duplicate, .conflict: nil
            }
        case .revision(let event, _, _, _): event
        case .replay: nil
        case .result, .command, .start, .exit, .schedule: nil
        }
    }
}

extension TurnInput.Content {
    /// The delivery whose bytes are mapped in the turn.
    fileprivate var mapped: StoredDelivery? {
        switch self {
        case .delivery(let delivery): delivery
        case .replay(let delivery, let replay): replay.remaps ? delivery : nil
        case .event, .result, .command, .start, .exit, .schedule: nil
        }
    }
}

extension Event {
    /// Whether this stands for an event whose id is kept longer than its content.
    var isForgotten: Bool { name == Event.forgottenName }

    static func unreadable(_ delivery: StoredDelivery, reason: String) -> Event {
        Event(
            id: makeID(
                connector: delivery.connector, providerEventID: delivery.providerEventID),
            connector: delivery.connector, providerEventID: delivery.providerEventID,
            providerType: nil, name: "connector.unreadable", trust: .provider,
            person: Person(id: nil), occurredAt: delivery.receivedAt,
            receivedAt: delivery.receivedAt, environment: "",
            properties: JSONObject([("reason", .string(reason))]))
    }
}
