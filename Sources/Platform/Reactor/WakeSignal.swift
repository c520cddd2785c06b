/// Wakes one loop of work: raised any number of times between two waits, it ends the next wait once.
///
/// Nothing may depend on it: who waits also comes back by time, and looks for work then too.
package actor WakeSignal {
    private let loop: EventLoop
    private var isRaised = false
    private var waiters: [Int: (continuation: CheckedContinuation<Void, Never>, timer: LoopTimer)] =
        [:]
    private var nextWaiter = 0

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        loop.asUnownedSerialExecutor()
    }

    /// A signal not raised yet.
    package init(loop: EventLoop) { self.loop = loop }

    /// Ends the wait under way, or else the next one; from any thread.
    package nonisolated func raise() {
        loop.onLoop { self.assumeIsolated { $0.raiseOnLoop() } }
    }

    private func raiseOnLoop() {
        isRaised = true
        guard let first = waiters.keys.min() else { return }
        end(first)
    }

    /// Returns when the signal is raised, was raised since the last wait, or after `limit`.
    ///
    /// - Returns: whether it was raised.
    package func wait(atMost limit: Duration) async -> Bool {
        if !isRaised {
            let number = nextWaiter
            nextWaiter += 1
            await withCheckedContinuation { continuation in
                // A raise may have come between the look above and here.
                guard !isRaised else {
                    continuation.resume()
                    return
                }
                let timer = loop.schedule(after: limit) {
                    self.assumeIsolated { $0.end(number) }
                }
                waiters[number] = (continuation, timer)
            }
        }
        defer { isRaised = false }
        return isRaised
    }

    private func end(_ number: Int) {
        guard let waiter = waiters.removeValue(forKey: number) else { return }
        waiter.timer.cancel()
        waiter.continuation.resume()
    }
}
