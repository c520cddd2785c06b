internal import CLinux
internal import Glibc

/// Signals of the process as a stream, through `signalfd`.
///
/// Make it before any thread starts (first thing in a command): the signals are blocked in the calling
/// thread, and threads started later inherit that.
package struct SignalWatch: Sendable {
    private let descriptor: Int32

    /// - Parameter signals: numbers such as `SIGTERM`; they no longer end the process by themselves.
    package init(_ signals: [Int32]) {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        descriptor = signalfd(-1, &set, Int32(SFD_NONBLOCK) | Int32(SFD_CLOEXEC))
        precondition(descriptor >= 0, "no descriptor left for signals")
    }

    /// The signals as they come, for one reader; ends when the reader goes away.
    package func signals(on loop: EventLoop) -> AsyncStream<Int32> {
        let descriptor = descriptor
        let (stream, continuation) = AsyncStream.makeStream(
            of: Int32.self, bufferingPolicy: .bufferingOldest(16))
        loop.onLoop {
            loop.watch(descriptor, for: .read) { _ in
                var record = signalfd_siginfo()
                while read(descriptor, &record, MemoryLayout<signalfd_siginfo>.size)
                    == MemoryLayout<signalfd_siginfo>.size
                {
                    continuation.yield(Int32(record.ssi_signo))
                }
            }
        }
        continuation.onTermination = { _ in loop.onLoop { loop.unwatch(descriptor) } }
        return stream
    }
}
