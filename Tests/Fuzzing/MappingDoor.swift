import Connectors
import JSON
import JourneyModel
import TimeZones

/// The first byte chooses a shipped provider, `a` the first of the list; the rest is a stored body.
struct MappingDoor {
    static let shared = MappingDoor()

    private static let receivedAt = Instant(milliseconds: 1_767_225_600_000)
    private let connectors: [Connector]

    private init() {
        connectors = ProviderDefinition.shipped.map { provider in
            do throws(ConnectorError) {
                return try Connector(
                    name: provider.name, provider: provider,
                    authentication: [Authentication(scheme: .none, secrets: [])],
                    allowsUnauthenticated: true)
            } catch {
                fatalError("\(error)")
            }
        }
    }

    func take(_ bytes: [UInt8]) {
        guard let first = bytes.first else { return }
        let place =
            (Int(first) + connectors.count * 256 - Int(UInt8(ascii: "a"))) % connectors.count
        let connector = connectors[place]
        let body = Array(bytes.dropFirst())
        let event = self.event(connector, body)
        require(!event.name.isEmpty, "an event without a name")
        require(
            Connector.sameEvent(event, self.event(connector, body)),
            "the same body told two events")
        checkStorable(event)
        guard case .object(let value, _) = DeliveredBody(body) else {
            return require(event.name == "connector.unreadable", "no object, and yet an event")
        }
        // What the request path finds is what the worker finds.
        let envelope = connector.envelope(of: value)
        require(envelope.person == event.person, "the request saw another person")
        require(envelope.environment == event.environment, "the request saw another environment")
        require(Connector.deduplicationID(envelope, body: body).isEmpty == false, "no id")
    }

    private func event(_ connector: Connector, _ body: [UInt8]) -> Event {
        connector.event(body: body, receivedAt: Self.receivedAt, providerEventID: "fuzzed")
    }

    /// What is written to the log is what PostgreSQL can hold, and reads as what was written.
    private func checkStorable(_ event: Event) {
        do {
            guard let stored = try JSONParser.parse(JSONValue.object(event.json).text).object else {
                fatalError("no object")
            }
            var read = try Event(json: stored)
            read.raw = event.raw
            require(read == event, "the event reads as another one once it is stored")
        } catch {
            fatalError("the event cannot be stored: \(error)")
        }
        require(event.occurredAt <= Self.receivedAt + .seconds(86_400), "it is not clamped")
    }
}
