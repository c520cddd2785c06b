internal import Connectors
internal import JourneyEngine
internal import JourneyModel
internal import JourneyTurns
internal import Locks
internal import TimeZones

extension WorkerService {
    /// Which subscription a delivery without an id is about.
    func subscription(
        _ connector: String, _ id: String, _ body: [UInt8], _ receivedAt: Instant
    ) -> SubscriptionID? {
        guard let connector = connectors.withLock({ $0[connector] }) else { return nil }
        return SubscriptionID(
            of: connector.event(body: body, receivedAt: receivedAt, providerEventID: id))
    }
}
