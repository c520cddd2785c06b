internal import JSON
package import JourneyModel
package import TimeZones

// A customer's coming into a segment or leaving it is an event that the engine makes (S2): an input of
// the customer's next turn, which goals may name. Nobody else's event of the name counts.
extension Event {
    package static let segmentEntered = "segment.entered"
    package static let segmentLeft = "segment.left"

    /// The event of one change of membership.
    ///
    /// - Parameters:
    ///   - at: when the membership changed: the turn's time, or the instant at which time changed it.
    ///   - depth: depth of the input that changed it, plus one.
    package static func segmentChange(
        _ segment: String, entered: Bool, customer: CustomerID, environment: String, at: Instant,
        depth: Int
    ) -> Event {
        let name = entered ? segmentEntered : segmentLeft
        let id = "\(customer):\(segment):\(name):\(at)"
        return Event(
            id: makeID(connector: engineConnector, providerEventID: id),
            connector: engineConnector, providerEventID: id, providerType: nil, name: name,
            trust: .engine, person: Person(id: nil), occurredAt: at, receivedAt: at,
            environment: environment, properties: JSONObject([("segment", .string(segment))]),
            depth: depth)
    }

    /// The connector that events of the engine's own bear.
    package static let engineConnector = "engine"

    /// Whether this is the engine's word that the customer came into (or left) a segment.
    func isChange(of segment: String, entered: Bool) -> Bool {
        trust == .engine && name == (entered ? Event.segmentEntered : Event.segmentLeft)
            && properties["segment"]?.string == segment
    }
}
