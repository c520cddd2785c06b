internal import JourneyStorage
internal import Locks
internal import Reactor
internal import Settings

// What goes on beside the turns: batches that operators asked for, and letting go of what was kept long
// enough.
extension WorkerService {
    func makeBatchLoop() -> BatchLoop {
        let (pool, wakeTurns) = (pool, wakeTurns)
        return BatchLoop(
            batches: BatchStore(pool: pool), leases: LeaseStore(pool: pool),
            connectors: { [self] in connectors.withLock { $0 } }, holder: Self.makeHolder(),
            onInput: { wakeTurns.raise() }, pause: stop.makePause(on: loop), log: log,
            isStopping: { [stop] in stop.isRaised })
    }

    func makeRetentionLoop() -> RetentionLoop {
        RetentionLoop(
            store: RetentionStore(pool: pool), leases: LeaseStore(pool: pool),
            policy: settings.retention.policy, holder: Self.makeHolder(),
            metrics: RetentionMetrics(metrics), loop: loop, log: log)
    }

    /// A name that no other process has.
    private static func makeHolder() -> String { "worker-\(UInt64.random(in: .min ... .max))" }
}

extension RetentionSettings {
    var policy: RetentionPolicy {
        RetentionPolicy(rawBodies: rawBodies, events: events, history: history, ids: ids)
    }
}
