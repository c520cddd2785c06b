internal import JourneyModel
internal import TimeZones

/// What an event's notes keep of a provider's time that was not taken as it is.
enum EventTime {
    static let missing = "the provider sent no time; received_at stands for it"

    private static let clampedPrefix = "occurred_at was clamped from "

    static func clamped(from instant: Instant) -> String { clampedPrefix + instant.description }

    /// The provider's own time of an event, which does not depend on when it was received.
    static func stated(by event: Event) -> String {
        guard event.isClamped else { return event.occurredAt.description }
        for note in event.notes where note.hasPrefix(clampedPrefix) {
            return String(note.dropFirst(clampedPrefix.count))
        }
        return ""
    }
}
