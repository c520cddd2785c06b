internal import Locks
package import TimeZones

/// Lets one line a key through in each interval and counts the others.
package final class LogThrottle: Sendable {
    private struct Entry {
        var passed: Instant
        var suppressed = 0
    }

    private let interval: Duration
    private let keyLimit: Int
    private let entries = Guarded<[String: Entry]>([:])

    /// - Parameters:
    ///   - interval: the time between two lines of one key.
    ///   - keyLimit: how many keys are told apart, 1 or more; the key that passed longest ago makes
    ///     room for a new one, and its count is lost.
    package init(interval: Duration = .seconds(60), keyLimit: Int = 1_024) {
        self.interval = interval
        self.keyLimit = max(1, keyLimit)
    }

    /// How many were held back since the last one passed, when this one may pass; nil when not.
    package func pass(_ key: String, at now: Instant) -> Int? {
        entries.withLock { entries in
            guard var entry = entries[key] else {
                if entries.count >= keyLimit,
                    let oldest = entries.min(by: { $0.value.passed < $1.value.passed })?.key
                {
                    entries[oldest] = nil
                }
                entries[key] = Entry(passed: now)
                return 0
            }
            // A clock set back must not silence a key until it has caught up.
            if now >= entry.passed, now - entry.passed < interval {
                entry.suppressed += 1
                entries[key] = entry
                return nil
            }
            entries[key] = Entry(passed: now)
            return entry.suppressed
        }
    }
}
