internal import Glibc
internal import Locks

/// Where log lines go.
package struct LogSink: Sendable {
    /// Takes one whole line with its line feed; may be called from any thread.
    package let write: @Sendable ([UInt8]) -> Void

    /// A sink of one's own.
    package init(_ write: @escaping @Sendable ([UInt8]) -> Void) { self.write = write }

    /// Standard error.
    package static let standardError = descriptor(STDERR_FILENO)

    /// An open descriptor, which stays the caller's.
    ///
    /// Each line is one `write(2)`; only when the kernel takes part of a line is the rest written
    /// after it, before any other line of this sink. A descriptor that takes nothing for a second, or
    /// is closed, loses the line: logging must not stop the work.
    package static func descriptor(_ number: Int32) -> LogSink {
        let turn = SinkTurn()
        return LogSink { line in
            turn.lock.withLock { _ in write(line, to: number) }
        }
    }

    /// Nowhere.
    package static let none = LogSink { _ in }

    private static func write(_ line: [UInt8], to descriptor: Int32) {
        var rest = line[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                if poll(&wait, 1, 1_000) == 0 { return }
            } else if errno != EINTR {
                return
            }
        }
    }
}

private final class SinkTurn: Sendable {
    let lock = Guarded(())
}

/// Keeps log lines in memory, for tests.
package final class LogLines: Sendable {
    private let kept = Guarded<[String]>([])

    /// No lines yet.
    package init() {}

    /// A sink that adds to these lines; past 100,000 they are dropped.
    package var sink: LogSink {
        LogSink { [self] line in
            kept.withLock { lines in
                guard lines.count < 100_000 else { return }
                lines.append(String(decoding: line.dropLast(), as: UTF8.self))
            }
        }
    }

    /// The lines so far, without their line feeds.
    package var lines: [String] { kept.withLock { $0 } }
}
