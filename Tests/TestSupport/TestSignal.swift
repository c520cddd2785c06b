internal import Locks

/// Something a test waits for: whoever makes it happen says so, and nobody sleeps.
package final class TestSignal<Value: Sendable>: Sendable {
    private struct State {
        var values: [Value] = []
        var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Guarded(State())

    package init() {}

    package func send(_ value: Value) {
        let ready = state.withLock { state in
            state.values.append(value)
            let count = state.values.count
            let ready = state.waiters.filter { $0.count <= count }
            state.waiters.removeAll { $0.count <= count }
            return ready
        }
        for waiter in ready { waiter.continuation.resume() }
    }

    /// What was sent so far.
    package var values: [Value] { state.withLock { $0.values } }

    /// Waits until `count` values were sent, and returns them all. Bounded by the test's time limit.
    package func wait(for count: Int = 1) async -> [Value] {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.values.count >= count { return true }
                state.waiters.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
        return values
    }
}

/// Asks `condition` again and again, letting others run in between, at most `tries` times; true once it
/// holds. For states that announce themselves nowhere; each question should itself wait for something
/// (a round trip to the server, say).
package func eventually(
    tries: Int = 2_000, _ condition: () async throws -> Bool
) async rethrows -> Bool {
    for _ in 0..<tries {
        if try await condition() { return true }
        await Task.yield()
    }
    return false
}
