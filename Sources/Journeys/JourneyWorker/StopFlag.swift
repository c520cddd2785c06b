internal import Locks
internal import Reactor
internal import Synchronization

/// Raised once, when the service is to stop.
final class StopFlag: Sendable {
    private let flag = Atomic(false)
    private let pauses = Guarded<[WakeSignal]>([])

    var isRaised: Bool { flag.load(ordering: .relaxed) }

    func raise() {
        flag.store(true, ordering: .relaxed)
        for pause in pauses.withLock({ $0 }) { pause.raise() }
    }

    /// What a loop waits at between two rounds: the flag ends the wait, so that nobody who stops the
    /// service waits for a round that has nothing to do.
    func makePause(on loop: EventLoop) -> WakeSignal {
        let pause = WakeSignal(loop: loop)
        pauses.withLock { $0.append(pause) }
        if isRaised { pause.raise() }
        return pause
    }
}

/// Why the worker does not start, with the next step.
package struct WorkerStartError: Error, Sendable, Hashable, CustomStringConvertible {
    package let sentence: String
    package var description: String { sentence }
}
