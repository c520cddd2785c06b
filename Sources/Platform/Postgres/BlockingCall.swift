internal import Glibc

/// Runs the few libpq calls that block (name resolution, cancel requests) on a thread of their own, since
/// neither the loop nor the global pool may wait.
enum BlockingCall {
    /// The value crosses threads once, in one direction.
    private struct Carried<Value>: @unchecked Sendable {
        let value: Value
    }

    private final class Body {
        let run: () -> Void
        init(_ run: @escaping () -> Void) { self.run = run }
    }

    static func run<Value>(_ call: @escaping @Sendable () -> Value) async -> Value {
        let carried = await withCheckedContinuation { continuation in
            start { continuation.resume(returning: Carried(value: call())) }
        }
        return carried.value
    }

    /// Without waiting for its end.
    static func start(_ call: @escaping @Sendable () -> Void) {
        let body = Unmanaged.passRetained(Body(call))
        var id = pthread_t()
        let code = pthread_create(
            &id, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, body.toOpaque())
        precondition(code == 0, "no thread for a blocking call: \(code)")
        pthread_detach(id)
    }
}
