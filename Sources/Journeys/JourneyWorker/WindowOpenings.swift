internal import JSON
internal import JourneyEngine
internal import TimeZones

/// When the windows open that effects' attempts keep to, by the zones of this machine.
enum WindowOpenings {
    /// Read when the first window is met: most effects have none.
    private static let zones =
        (try? TimeZoneDatabase())?.everyZone()
        ?? TimeZoneSet(version: "", rules: [])

    /// Nil for a window that is open, and for what is none.
    ///
    /// One that never opens is looked at again after a year, which its effect's deadline comes before.
    @Sendable static func opening(of window: JSONObject, at now: Instant) -> Instant? {
        guard let window = AttemptWindow(json: window) else { return nil }
        let state = window.state(at: now, zones: zones)
        return state.isOpen ? nil : state.opensAt ?? now + .seconds(366 * 86_400)
    }
}
