package import TimeZones

/// Writes log lines: a value that is passed on, with the ids that all its lines carry.
///
/// A line holds the time, the level, the message and its metadata in the order given. Payloads and
/// secrets do not belong in it. Lines are at most ``lineLimit`` bytes; what does not fit is cut and
/// marked. No text, whatever it holds, can begin a second line.
package struct Log: Sendable {
    /// The longest line in bytes, its line feed included.
    package static let lineLimit = 16_384

    /// Less than this is not written.
    package let level: LogLevel
    private let format: LogFormat
    private let customers: CustomerIDPolicy
    private let clock: @Sendable () -> Instant
    private let sink: LogSink
    private var bound: [(key: String, value: LogValue)] = []

    /// - Parameters:
    ///   - customers: how ids of people appear.
    ///   - clock: the time of the lines.
    package init(
        level: LogLevel = .info, format: LogFormat = .json, customers: CustomerIDPolicy,
        clock: @escaping @Sendable () -> Instant, sink: LogSink = .standardError
    ) {
        self.level = level
        self.format = format
        self.customers = customers
        self.clock = clock
        self.sink = sink
    }

    /// A log that writes nothing.
    package static let silent = Log(
        level: .error, customers: .plain, clock: { Instant(milliseconds: 0) }, sink: .none)

    /// A log whose lines also carry `metadata`.
    package func with(_ metadata: KeyValuePairs<String, LogValue>) -> Log {
        var log = self
        for (key, value) in metadata { log.bound.append((key, value)) }
        return log
    }

    /// Whether a line of this level would be written.
    package func writes(_ level: LogLevel) -> Bool { level >= self.level }

    /// Writes one line, if its level is high enough; `message` is not made otherwise.
    package func log(
        _ level: LogLevel, _ message: @autoclosure () -> String,
        _ metadata: @autoclosure () -> KeyValuePairs<String, LogValue> = [:]
    ) {
        guard writes(level) else { return }
        let fields = bound + metadata().map { ($0.key, $0.value) }
        let line = LogLine(
            time: clock(), level: level, message: message(), fields: fields, customers: customers)
        sink.write(line.bytes(format))
    }

    /// Writes a line at ``LogLevel/trace``.
    package func trace(
        _ message: @autoclosure () -> String,
        _ metadata: @autoclosure () -> KeyValuePairs<String, LogValue> = [:]
    ) { log(.trace, message(), metadata()) }

    /// Writes a line at ``LogLevel/debug``.
    package func debug(
        _ message: @autoclosure () -> String,
        _ metadata: @autoclosure () -> KeyValuePairs<String, LogValue> = [:]
    ) { log(.debug, message(), metadata()) }

    /// Writes a line at ``LogLevel/info``.
    package func info(
        _ message: @autoclosure () -> String,
        _ metadata: @autoclosure () -> KeyValuePairs<String, LogValue> = [:]
    ) { log(.info, message(), metadata()) }

    /// Writes a line at ``LogLevel/warning``.
    package func warning(
        _ message: @autoclosure () -> String,
        _ metadata: @autoclosure () -> KeyValuePairs<String, LogValue> = [:]
    ) { log(.warning, message(), metadata()) }

    /// Writes a line at ``LogLevel/error``.
    package func error(
        _ message: @autoclosure () -> String,
        _ metadata: @autoclosure () -> KeyValuePairs<String, LogValue> = [:]
    ) { log(.error, message(), metadata()) }

    /// Writes a line unless `throttle` has let one with this key through within its interval; then
    /// only counts it. The next line that passes says how many were left out, as `suppressed`.
    package func throttled(
        by throttle: LogThrottle, key: String, _ level: LogLevel,
        _ message: @autoclosure () -> String,
        _ metadata: @autoclosure () -> KeyValuePairs<String, LogValue> = [:]
    ) {
        guard writes(level), let suppressed = throttle.pass(key, at: clock()) else { return }
        let log = suppressed > 0 ? with(["suppressed": .integer(suppressed)]) : self
        log.log(level, message(), metadata())
    }
}
