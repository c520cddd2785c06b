internal import JSON
internal import TimeZones
internal import WorkflowDefinitions

// The stored form of a retry policy: durations in whole milliseconds, the factor's digits kept.
extension RetryPolicy {
    var stored: JSONObject {
        JSONObject([
            ("attempts", .integer(attempts)), ("backoff_ms", .integer(backoff.wholeMilliseconds)),
            ("factor", .number(factor)), ("longest_ms", .integer(longest.wholeMilliseconds)),
            ("jitter", .bool(jitter)),
            ("causes", .array(causes.map { .string($0.rawValue) })),
        ])
    }

    /// Nil when a member is missing or has another form.
    init?(stored: JSONObject) {
        guard let attempts = stored["attempts"]?.integer.flatMap({ Int(exactly: $0) }),
            let backoff = stored["backoff_ms"]?.integer, let factor = stored["factor"]?.number,
            let longest = stored["longest_ms"]?.integer, let jitter = stored["jitter"]?.bool,
            let words = stored["causes"]?.array
        else { return nil }
        let causes = words.compactMap { $0.string.flatMap(Cause.init(rawValue:)) }
        guard causes.count == words.count else { return nil }
        self.init(
            attempts: attempts, backoff: .milliseconds(backoff), factor: factor,
            longest: .milliseconds(longest), jitter: jitter, causes: causes)
    }
}
