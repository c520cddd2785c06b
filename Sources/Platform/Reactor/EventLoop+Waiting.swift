internal import Locks

extension EventLoop {
    /// Runs `body` on the loop and returns what it returns; from the loop itself too.
    package func run<Success: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () async throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        let task = Task(executorPreference: tasks) { () async -> Result<Success, Failure> in
            do throws(Failure) { return .success(try await body()) } catch {
                return .failure(error)
            }
        }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        return try result.get()
    }

    /// Waits on this loop's timers for at least `delay`.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    package func sleep(for delay: Duration) async throws {
        let wait = TimerWait()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard wait.begin(continuation) else { return }
                onLoop {
                    guard !wait.isOver else { return }
                    wait.timer.value = self.schedule(after: delay) { wait.end(.success(())) }
                }
            }
        } onCancel: {
            wait.end(.failure(CancellationError()))
            // A long timer must not keep the wait in memory until its time.
            onLoop { wait.timer.value?.cancel() }
        }
    }

    /// Runs a synchronous body on the loop thread: at once when already there, else soon.
    package func onLoop(_ body: @escaping @Sendable () -> Void) {
        if isOnLoop {
            body()
        } else {
            Task(executorPreference: tasks) { body() }
        }
    }
}

/// A continuation that ends once, by time or by cancellation, whichever comes first.
private final class TimerWait: Sendable {
    private enum State {
        case idle
        case waiting(CheckedContinuation<Void, any Error>)
        case over(Result<Void, any Error>?)
    }

    /// Touched on the loop's thread only.
    final class TimerBox: @unchecked Sendable { var value: LoopTimer? }

    private let state = Guarded(State.idle)
    let timer = TimerBox()

    var isOver: Bool {
        state.withLock { state in
            switch state {
            case .idle, .waiting: false
            case .over: true
            }
        }
    }

    /// False when the wait was cancelled before it began; the continuation is then resumed.
    func begin(_ continuation: CheckedContinuation<Void, any Error>) -> Bool {
        let early: Result<Void, any Error>? = state.withLock { state in
            switch state {
            case .idle:
                state = .waiting(continuation)
                return nil
            case .waiting, .over(nil): return .failure(CancellationError())
            case .over(let result?): return result
            }
        }
        if let early { continuation.resume(with: early) }
        return early == nil
    }

    func end(_ result: Result<Void, any Error>) {
        let waiting: CheckedContinuation<Void, any Error>? = state.withLock { state in
            switch state {
            case .idle:
                state = .over(result)
                return nil
            case .waiting(let continuation):
                state = .over(nil)
                return continuation
            case .over: return nil
            }
        }
        waiting?.resume(with: result)
    }
}
