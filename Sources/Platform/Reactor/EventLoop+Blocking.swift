internal import CLinux
internal import Glibc
internal import Locks

extension EventLoop {
    /// Runs `body` on the loop and holds the calling thread until it is done: for a command's main
    /// thread, never for the loop's own.
    package func runBlocking<Success: Sendable>(
        _ body: @escaping @Sendable () async -> Success
    ) -> Success {
        precondition(!isOnLoop, "the loop cannot wait for itself")
        let done = eventfd(0, Int32(EFD_CLOEXEC))
        precondition(done >= 0, "no descriptor left")
        defer { close(done) }
        let box = ResultBox<Success>()
        Task(executorPreference: tasks) {
            let value = await body()
            box.value.withLock { $0 = value }
            var one: UInt64 = 1
            _ = write(done, &one, 8)
        }
        var count: UInt64 = 0
        while read(done, &count, 8) != 8 {}
        guard let value = box.value.withLock({ $0 }) else {
            preconditionFailure("the loop ended a wait without a result")
        }
        return value
    }
}

private final class ResultBox<Value: Sendable>: Sendable {
    let value = Guarded<Value?>(nil)
}
