internal import Configuration

/// `retention`: how long what is kept, each at least so long; large tables go by whole months.
package struct RetentionSettings: Sendable, Hashable {
    package var rawBodies: Duration
    package var events: Duration
    package var history: Duration
    package var ids: Duration
    /// How long the fingerprints of a forgotten person's ids are kept.
    package var forgetRemember: Duration

    private static let day = 86_400
    private static let longest = Duration.seconds(36_525 * day)

    init(_ reader: ConfigurationReader) {
        func length(_ key: String, atLeast days: Int, default usual: Int) -> Duration {
            reader.duration(
                key, in: .seconds(days * Self.day)...Self.longest,
                default: .seconds(usual * Self.day))
        }
        rawBodies = length("raw_bodies", atLeast: 1, default: 90)
        // Entries ask for what came within 31 days (S4), and goals for evidence as late (S21).
        events = length("events", atLeast: 32, default: 400)
        history = length("history", atLeast: 1, default: 400)
        ids = length("ids", atLeast: 30, default: 400)
        forgetRemember = length("forget.remember", atLeast: 30, default: 400)
        if rawBodies > events {
            reader.problem(
                "raw_bodies",
                "Bodies go before the events that they became: make raw_bodies no longer than events."
            )
        }
    }
}
