internal import Glibc

/// A value that one thread at a time may touch.
///
/// It stands where `Synchronization.Mutex` would: that one's futex cannot be seen by Thread Sanitizer on
/// Linux (Swift 6.3: every access it guards is reported as a race), a pthread lock can. Decide inside
/// the lock, act outside it; the lock is not recursive.
package final class Guarded<Value: ~Copyable>: @unchecked Sendable {
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    /// Apart from the object: an empty value would share the address of a field that is read unlocked.
    private let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)

    /// Takes the value over.
    package init(_ value: consuming sending Value) {
        let status = pthread_mutex_init(lock, nil)
        precondition(status == 0, "no lock left: \(status)")
        self.value.initialize(to: value)
    }

    deinit {
        value.deinitialize(count: 1)
        value.deallocate()
        pthread_mutex_destroy(lock)
        lock.deallocate()
    }

    /// Calls `body` with the value while no other thread can; it must not wait for anything.
    package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return try body(&value.pointee)
    }
}
