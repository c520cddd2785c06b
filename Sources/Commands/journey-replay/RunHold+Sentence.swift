internal import JSON
internal import JourneyModel
internal import JourneyStorage
internal import TimeZones

extension RunView.Hold {
    /// One word for scripts.
    var word: String {
        switch self {
        case .ended: "ended"
        case .stuck: "stuck"
        case .retrying: "retrying"
        case .unreadInputs: "unread_inputs"
        case .overdue: "overdue"
        case .effect: "effect"
        case .timer: "timer"
        case .events: "events"
        }
    }

    /// Why the run does not move, and what to do where somebody must.
    ///
    /// - Parameter events: what the present step waits for.
    func sentence(now: Instant, events: [String]) -> String {
        switch self {
        case .ended(let status, let reason):
            return "it has ended: \(status)" + (reason.map { " (\($0))" } ?? "")
        case .stuck(let error):
            return "the customer's turns fail and are tried no more: \(error)"
        case .retrying(let error, let at):
            return "the customer's last turn failed and is tried again \(told(at, now)): \(error)"
        case .unreadInputs(let count, let since):
            return "\(counted(count, "input")) \(count == 1 ? "waits" : "wait") for a turn, the "
                + "oldest since \(told(since, now)); is a worker running?"
        case .overdue(let since):
            return
                "a timer of the customer is due since \(told(since, now)) and was not taken; is a "
                + "worker running?"
        case .effect(let effect): return Self.sentence(effect, now)
        case .timer(let due): return "it waits until \(told(due, now))"
        case .events(let until):
            let names = events.isEmpty ? "a condition" : events.joined(separator: " or ")
            return "it waits for \(names), until \(told(until, now))"
        }
    }

    private static func sentence(_ effect: EffectView, _ now: Instant) -> String {
        let name = HistoryPhrase.short(effect.invocation.text)
        let start =
            "it waits for effect \(name) (\(effect.tool)"
            + (effect.account.map { " to \($0)" } ?? "") + ")"
        let made = counted(effect.attempts, "attempt") + " so far"
        if effect.endedAt != nil {
            return "\(start), which ended \(effect.status); the result waits for a turn"
        }
        if let until = effect.leaseUntil {
            return "\(start), in flight at most until \(told(until, now)); \(made)"
        }
        if let due = effect.dueAt {
            let isDue = due <= now ? "; is a dispatcher running?" : ""
            return "\(start), whose next attempt is due \(told(due, now)); \(made)\(isDue)"
        }
        return "\(start), which is \(effect.status); \(made)"
    }
}

/// An instant with how far it is from now: `2026-03-02T12:00:00.000Z (in 2 h 5 min)`.
func told(_ instant: Instant, _ now: Instant) -> String {
    let seconds = abs((instant - now).components.seconds)
    let text =
        switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3_600: "\(seconds / 60) min"
        case ..<86_400: "\(seconds / 3_600) h \(seconds % 3_600 / 60) min"
        default: "\(seconds / 86_400) d \(seconds % 86_400 / 3_600) h"
        }
    return instant < now ? "\(instant) (\(text) ago)" : "\(instant) (in \(text))"
}
