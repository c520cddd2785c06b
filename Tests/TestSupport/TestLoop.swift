package import Reactor

/// Runs `body` in a task of a new event loop, and stops the loop afterwards.
package func withEventLoop<Value: Sendable>(
    _ body: @escaping @Sendable (EventLoop) async throws -> Value
) async throws -> Value {
    let loop = EventLoop()
    let result = await Task(executorPreference: loop.tasks) {
        () async -> Result<Value, any Error> in
        do { return .success(try await body(loop)) } catch { return .failure(error) }
    }.value
    // The result may have been made on the loop itself: leave its thread before it is joined.
    await leave(loop)
    return try result.get()
}

@concurrent
private func leave(_ loop: EventLoop) async {
    await withCheckedContinuation { continuation in
        Task.detached {
            loop.stop()
            continuation.resume()
        }
    }
}
