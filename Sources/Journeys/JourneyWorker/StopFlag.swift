internal import Synchronization

/// Raised once, when the service is to stop.
final class StopFlag: Sendable {
    private let flag = Atomic(false)
    var isRaised: Bool { flag.load(ordering: .relaxed) }
    func raise() { flag.store(true, ordering: .relaxed) }
}

/// Why the worker does not start, with the next step.
package struct WorkerStartError: Error, Sendable, Hashable, CustomStringConvertible {
    package let sentence: String
    package var description: String { sentence }
}
