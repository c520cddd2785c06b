internal import Foundation

/// What the SDK takes from the world around it; tests give their own.
struct Surroundings: Sendable {
    /// Milliseconds since 1970, for what survives the process.
    var wallClock: @Sendable () -> Int64
    /// Milliseconds on a clock that nobody sets, for ages within the process.
    var uptime: @Sendable () -> Int64
    /// Waits so many milliseconds.
    var sleep: @Sendable (Int64) async throws -> Void
    /// From 0 up to 1, for jitter.
    var random: @Sendable () -> Double
    var transport: any Transport
    var store: any PurchaseStore
    var journal: @Sendable (_ folder: String, SDKLog) throws(NuxieError) -> any OperationJournal
}

/// Makes ids that sort by time: UUID version 7.
func makeID(at milliseconds: Int64) -> String {
    var bytes = (0..<16).map { _ in UInt8.random(in: 0...255) }
    for place in 0..<6 {
        bytes[place] = UInt8(truncatingIfNeeded: milliseconds >> (40 - 8 * Int64(place)))
    }
    bytes[6] = 0x70 | bytes[6] & 0x0f
    bytes[8] = 0x80 | bytes[8] & 0x3f
    let digits = Array("0123456789abcdef")
    var text = ""
    for (place, byte) in bytes.enumerated() {
        if [4, 6, 8, 10].contains(place) { text.append("-") }
        text.append(digits[Int(byte >> 4)])
        text.append(digits[Int(byte & 15)])
    }
    return text
}

/// Where log lines go unless the app takes them.
@Sendable func writeToStandardError(_ level: NuxieConfiguration.LogLevel, _ line: String) {
    FileHandle.standardError.write(Data("nuxie \(level): \(line)\n".utf8))
}

/// Says what goes wrong; keys, receipts and customers' ids are withheld.
struct SDKLog: Sendable {
    let level: NuxieConfiguration.LogLevel
    let handler: @Sendable (NuxieConfiguration.LogLevel, String) -> Void

    func log(_ level: NuxieConfiguration.LogLevel, _ line: String) {
        if level >= self.level, self.level != .none { handler(level, line) }
    }
}
