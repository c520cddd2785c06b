internal import EffectDispatch
internal import JourneyStorage
internal import Reactor
internal import Telemetry

// What is done now and then, whatever comes in.
extension WorkerService {
    private func tellUnserved(_ effects: EffectStore) async throws {
        for waiting in try await effects.unserved(by: dispatcher.served) {
            log.warning(
                "effects wait for an account that is not configured here; configure it, or they expire",
                [
                    "tool": .text(waiting.tool), "account": .text(waiting.account),
                    "count": .integer(waiting.count),
                ])
        }
    }

    /// What is done now and then, until the task is cancelled: partitions ahead of time each hour, and
    /// each minute an end to effects that nobody serves.
    func keepHouse() async {
        let effects = EffectStore(pool: pool)
        var minute = 0
        while !Task.isCancelled {
            do {
                if minute % 60 == 0 {
                    let made = try await JourneySchema.ensurePartitions(monthsAhead: 3, pool)
                    if made > 0 { log.info("partitions were made", ["count": .integer(made)]) }
                }
                if !holdsEffects { try await effects.expireUnserved() }
                if roles.contains(.dispatch) { try await tellUnserved(effects) }
            } catch {
                if Task.isCancelled { return }
                log.warning(
                    "housekeeping was put off; without new partitions rows go to the default ones",
                    ["reason": .text("\(error)")])
            }
            minute += 1
            do { try await loop.sleep(for: .seconds(60)) } catch { return }
        }
    }
}
