package import Connectors
package import JourneyModel

/// Compares what the mapping tells of a stored delivery now with the event that it became.
package struct DeliveryReview: Sendable {
    /// What came of it.
    package enum Finding: Sendable, Hashable {
        /// The mapping tells the event that is stored.
        case same
        /// It tells another one; `before` is nil where none was ever read.
        case differs(before: Event?, after: Event)
        /// A sentence that says why nothing can be said.
        case unable(String)
    }

    private let connectors: [String: Connector]

    /// - Parameter connectors: by name, as they are configured.
    package init(connectors: [String: Connector]) { self.connectors = connectors }

    /// - Parameter hasBody: whether the delivery's bytes are still kept.
    package func review(_ delivery: StoredDelivery, hasBody: Bool) -> Finding {
        guard let connector = connectors[delivery.connector] else {
            return .unable("the connector \(delivery.connector) is not configured here")
        }
        guard hasBody else { return .unable("its body is no longer kept") }
        let event = connector.event(
            body: delivery.body, receivedAt: delivery.receivedAt,
            providerEventID: delivery.providerEventID)
        guard let earlier = delivery.earlier else { return .differs(before: nil, after: event) }
        if earlier.isForgotten { return .unable("its event is no longer kept") }
        return Connector.sameEvent(earlier.asMapped, event)
            ? .same : .differs(before: earlier, after: event)
    }
}
