package import Connectors
package import Reactor
package import Telemetry
package import TimeZones

/// Keeps issuers' published keys fresh, away from any request.
///
/// Each address is fetched at the start, every hour, and soon after a sender named a key that is not there:
/// then at most once a minute, so that forged tokens make no traffic. The last good answer is kept for as
/// long as no better one comes.
package struct KeyRefresher: Sendable {
    /// What an address answered, or why it gave nothing that could be used.
    package enum Answer: Sendable {
        case keys([UInt8])
        case nothing(String)
    }

    private let keys: @Sendable () -> [PublishedKeys]
    private let fetch: @Sendable (String) async -> Answer
    private let loop: EventLoop
    private let log: Log
    private let clock: @Sendable () -> Instant

    private static let usual = Duration.seconds(3_600)
    private static let afterFailure = Duration.seconds(30)
    private static let betweenWishes = Duration.seconds(60)
    private static let look = Duration.seconds(1)

    /// - Parameters:
    ///   - keys: those of the connectors in use, asked at each look, since a reload changes them.
    ///   - fetch: one GET, bounded in time and size, that follows nothing.
    package init(
        loop: EventLoop, log: Log, clock: @escaping @Sendable () -> Instant,
        keys: @escaping @Sendable () -> [PublishedKeys],
        fetch: @escaping @Sendable (String) async -> Answer
    ) {
        self.loop = loop
        self.log = log
        self.clock = clock
        self.keys = keys
        self.fetch = fetch
    }

    /// When an address is fetched next, and when it was last.
    private struct Plan {
        var due: Instant
        var last: Instant
    }

    /// Runs until its task is cancelled.
    package func run() async {
        var plans: [String: Plan] = [:]
        while !Task.isCancelled {
            let present = keys()
            for address in Set(present.compactMap(\.address)).sorted() {
                let holders = present.filter { $0.address == address }
                // Every holder is asked, so that no wish is left over for the next look.
                let isWished = holders.map { $0.takeWish() }.contains(true)
                let now = clock()
                if let plan = plans[address] {
                    let mayWish = now >= plan.last + Self.betweenWishes
                    let isNew = holders.contains { $0.current == nil } && now >= plan.due
                    guard now >= plan.due || isNew || (isWished && mayWish) else { continue }
                }
                let isGood = await refresh(address, holders)
                plans[address] = Plan(
                    due: now + (isGood ? Self.usual : Self.afterFailure), last: now)
            }
            do {
                try await loop.sleep(for: Self.look)
            } catch {
                return
            }
        }
    }

    private func refresh(_ address: String, _ holders: [PublishedKeys]) async -> Bool {
        switch await fetch(address) {
        case .keys(let bytes):
            let taken = holders.map { $0.take(bytes) }
            if taken.contains(true) { return true }
            warn(address, "the answer is no key set with a usable key")
        case .nothing(let reason): warn(address, reason)
        }
        return false
    }

    private func warn(_ address: String, _ reason: String) {
        log.warning(
            "the keys of an issuer could not be fetched; the last good ones stay",
            ["address": .text(address), "reason": .text(reason)])
    }
}
