internal import Glibc
internal import Locks

/// Where a command writes text: a file descriptor, or memory in tests.
///
/// A reader that goes away (`| head`) is no error: what is written afterwards is dropped, and
/// ``isClosed`` tells long work that it may stop. Anything else that keeps text from being written, such as
/// a full disk, is noted in ``hasFailed``.
package final class TextStream: Sendable {
    private enum Target: Sendable {
        case descriptor(Int32)
        case memory
    }

    private struct State {
        var isClosed = false
        /// The system's number of the first write that failed, but for readers that went away.
        var failure: Int32?
        var memory: [UInt8] = []
    }

    private let target: Target
    private let state = Guarded(State())

    /// The most bytes kept by a stream in memory; later ones are dropped.
    private static let memoryLimit = 16_777_216

    private init(_ target: Target) { self.target = target }

    /// A stream over an open descriptor, which stays the caller's.
    package static func descriptor(_ number: Int32) -> TextStream {
        TextStream(.descriptor(number))
    }

    /// A stream that keeps what is written; see ``written``.
    package static func memory() -> TextStream { TextStream(.memory) }

    /// What a stream in memory has taken so far.
    package var written: String {
        state.withLock { String(decoding: $0.memory, as: UTF8.self) }
    }

    /// Whether nobody reads any more.
    package var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Whether some of the text is lost although somebody was to have it.
    package var hasFailed: Bool { state.withLock { $0.failure != nil } }

    /// Why it ``hasFailed``, in the system's words; nil when it has not.
    package var failure: String? {
        state.withLock { $0.failure }.map { String(cString: strerror($0)) }
    }

    /// Writes the whole text, in one piece against other writers of this stream.
    package func write(_ text: String) {
        let bytes = Array(text.utf8)
        state.withLock { state in
            switch target {
            case .memory:
                if state.memory.count + bytes.count <= Self.memoryLimit { state.memory += bytes }
            case .descriptor(let number):
                guard !state.isClosed, let problem = Self.write(bytes, to: number) else { return }
                state.isClosed = true
                if problem != EPIPE { state.failure = problem }
            }
        }
    }

    /// Writes the text and a line feed.
    package func writeLine(_ text: String) { write(text + "\n") }

    /// Nil when all is written, else the system's number of what came in between.
    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                // A terminal stopped with ^S may stand for long; ten seconds are enough for a pipe.
                if poll(&wait, 1, 10_000) == 0 { return ETIMEDOUT }
            case let problem: return problem
            }
        }
        return nil
    }
}
