internal import JourneyStorage
internal import Reactor
internal import Telemetry

/// Lets go of what was kept long enough, in one process at a time, a little each minute.
struct RetentionLoop: Sendable {
    let store: RetentionStore
    let leases: LeaseStore
    let policy: RetentionPolicy
    /// A name that no other process has.
    let holder: String
    let metrics: RetentionMetrics
    let loop: EventLoop
    let log: Log

    private static let lease = "retention"
    private static let leaseLength = Duration.seconds(900)
    private static let round = Duration.seconds(60)

    /// Runs until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            do { try await loop.sleep(for: Self.round) } catch { return }
            do {
                let term = try await leases.take(
                    Self.lease, holder: holder, for: Self.leaseLength)
                if term != nil { note(try await store.cut(policy)) }
            } catch {
                if Task.isCancelled { return }
                log.warning(
                    "what is past its retention was left for now", ["reason": .text("\(error)")])
            }
        }
    }

    private func note(_ cuts: [RetentionStore.Cut]) {
        for cut in cuts {
            metrics.note(cut)
            if let partition = cut.partition, cut.isDropped {
                log.info(
                    "a month past its retention was dropped",
                    [
                        "partition": .text(partition), "removed": .integer(cut.removed),
                        "kept": .integer(cut.kept),
                    ])
            } else if let partition = cut.partition, cut.kept > 0 {
                log.info(
                    "a month past its retention stays: too many live runs need it",
                    ["partition": .text(partition), "kept": .integer(cut.kept)])
            }
        }
    }
}

/// What retention removed.
struct RetentionMetrics: Sendable {
    private let rows: Counter
    private let partitions: Counter

    init(_ metrics: Metrics) {
        rows = metrics.counter(
            "journey_retention_rows_removed_total",
            help: "Rows that were let go because they were kept long enough, by table.",
            labels: ["table"])
        partitions = metrics.counter(
            "journey_retention_partitions_dropped_total",
            help: "Monthly partitions that were dropped, by table.", labels: ["table"])
    }

    func note(_ cut: RetentionStore.Cut) {
        if cut.removed > 0 { rows.add(Double(cut.removed), labels: [cut.table]) }
        if cut.isDropped { partitions.add(labels: [cut.table]) }
    }
}
