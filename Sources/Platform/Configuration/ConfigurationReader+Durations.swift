package import TimeZones

extension ConfigurationReader {
    /// An ISO 8601 duration within `range`, such as `PT0.25S` or `P7D`; nil when absent.
    package func duration(_ key: String, in range: ClosedRange<Duration>) -> Duration? {
        guard let text = string(key) else { return nil }
        let duration: Duration
        do {
            duration = try ISODuration.parse(text, allowsFraction: true)
        } catch {
            problem(key, error.description)
            return nil
        }
        guard range.contains(duration) else {
            problem(
                key,
                "The duration must lie between \(range.lowerBound.iso8601) and "
                    + "\(range.upperBound.iso8601).")
            return nil
        }
        return duration
    }

    /// An ISO 8601 duration within `range`, or `fallback` when absent.
    package func duration(
        _ key: String, in range: ClosedRange<Duration>, default fallback: Duration
    ) -> Duration {
        duration(key, in: range) ?? fallback
    }

    /// The rules of the named zone, or `fallback` when absent.
    package func timeZone(
        _ key: String, from database: TimeZoneDatabase, default fallback: TimeZoneRules
    ) -> TimeZoneRules {
        guard let name = string(key) else { return fallback }
        do {
            return try database.rules(named: name)
        } catch {
            problem(key, error.description)
            return fallback
        }
    }
}
