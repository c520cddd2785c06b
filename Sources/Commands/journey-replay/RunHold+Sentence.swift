internal import JSON
internal import JourneyModel
internal import JourneyStorage
internal import TimeZones

extension RunView.Hold {
    /// One word for scripts.
    var word: String {
        switch self {
        case .ended: "ended"
        case .deadEffect: "dead_effect"
        case .unsettled: "unsettled_effect"
        case .stuck: "stuck"
        case .retrying: "retrying"
        case .noWorker: "no_worker"
        case .turnTrouble: "turn_trouble"
        case .unreadInputs: "unread_inputs"
        case .overdue: "overdue"
        case .noDispatcher: "no_dispatcher"
        case .held: "held"
        case .noAccount: "no_account"
        case .dispatchTrouble: "dispatch_trouble"
        case .accountBusy: "account_concurrency"
        case .dispatchBusy: "dispatch_concurrency"
        case .accountRate: "account_rate"
        case .behind: "behind"
        case .window: "window"
        case .effect: "effect"
        case .timer: "timer"
        case .events: "events"
        case .nothing: "fault"
        }
    }

    /// Why the run does not move, and what to do where somebody must.
    ///
    /// - Parameter events: what the present step waits for.
    func sentence(now: Instant, events: [String]) -> String {
        switch self {
        case .ended(let status, let reason):
            return "it has ended: \(status)" + (reason.map { " (\($0))" } ?? "")
        case .timer(let due): return "it waits until \(told(due, now))"
        case .events(let until):
            let names = events.isEmpty ? "a condition" : events.joined(separator: " or ")
            return "it waits for \(names), until \(told(until, now))"
        case .nothing(let fault):
            return "\(fault); nothing would ever move it: end it with journey-replay cancel, and "
                + "report this fault with journey-replay export --redact"
        case .stuck, .retrying, .noWorker, .turnTrouble, .unreadInputs, .overdue:
            return turnSentence(now)
        case .deadEffect, .unsettled, .noDispatcher, .held, .noAccount, .dispatchTrouble,
            .accountBusy, .dispatchBusy, .accountRate, .behind, .window, .effect:
            return effectSentence(now)
        }
    }

    /// What keeps the customer's turn.
    private func turnSentence(_ now: Instant) -> String {
        switch self {
        case .stuck(let error):
            return
                "the customer's turns fail and are tried no more: \(error); when that is mended, "
                + "journey-replay retry --stuck has them tried again"
        case .retrying(let error, let at):
            return "the customer's last turn failed and is tried again \(told(at, now)): \(error)"
        case .noWorker(let seen, let turn):
            let last = seen.map { "the last was seen \(told($0, now))" } ?? "none was ever seen"
            let taken = turn.map { ", and the last turn taken \(told($0, now))" } ?? ""
            return "no worker runs: \(last)\(taken); start journey-worker serve"
        case .turnTrouble(let trouble):
            return "the workers cannot take turns: \(trouble); mend that, they try again"
        case .unreadInputs(let count, let since, let ahead):
            let before = ahead > 0 ? "; \(ahead) of other customers came before" : ""
            return "\(counted(count, "input")) \(count == 1 ? "waits" : "wait") for a turn, the "
                + "oldest since \(told(since, now))\(before)"
        case .overdue(let since):
            return "a timer of the customer is due since \(told(since, now)) and was not taken"
        case .ended, .timer, .events, .nothing, .deadEffect, .unsettled, .noDispatcher, .held,
            .noAccount, .dispatchTrouble, .accountBusy, .dispatchBusy, .accountRate, .behind,
            .window, .effect:
            return ""
        }
    }

    /// What keeps an attempt of the effect.
    private func effectSentence(_ now: Instant) -> String {
        switch self {
        case .deadEffect(let effect):
            let error = effect.error.map { " with \($0)" } ?? ""
            return "it failed as its effect \(name(effect)) ended \(effect.status)\(error) after "
                + "\(counted(effect.attempts, "attempt")); journey-replay retry "
                + "\(HistoryPhrase.short(effect.invocation.text)) has it attempted again"
        case .unsettled(let effect):
            return "nobody knows whether its effect \(name(effect)) arrived; see, then settle it "
                + "with journey-replay dead discard \(HistoryPhrase.short(effect.invocation.text))"
        case .noDispatcher(let seen):
            let last = seen.map { "the last was seen \(told($0, now))" } ?? "none was ever seen"
            return "no dispatcher runs: \(last); start journey-worker serve"
        case .held:
            return "effects are held back: every dispatcher was started with --hold-effects; start "
                + "one without it"
        case .noAccount(let effect):
            return "no dispatcher serves \(place(effect)): the account is not in their "
                + "configuration; add it and start them again, or the effect expires "
                + "\(told(effect.deadline, now))"
        case .dispatchTrouble(let trouble):
            return "the dispatchers cannot take effects up: \(trouble); mend that, they try again"
        case .accountBusy(let effect, let concurrency):
            return "\(place(effect)) has \(counted(concurrency, "attempt")) under way, as many as "
                + "its concurrency allows"
        case .dispatchBusy(let concurrency):
            return "\(counted(concurrency, "attempt")) are under way, as many as the dispatchers "
                + "make at once (dispatch.concurrency)"
        case .accountRate(let effect, let perSecond, let next, let ahead):
            return "\(place(effect)) may start \(Self.rate(perSecond)); the next attempt may start "
                + "\(told(next, now)), and \(counted(ahead, "effect")) "
                + "\(ahead == 1 ? "stands" : "stand") before this one"
        case .behind(let effect, let ahead):
            return "\(counted(ahead, "effect")) of \(place(effect)) "
                + "\(ahead == 1 ? "is" : "are") due before it"
        case .window(_, let opens):
            return "no message goes out before the window opens, \(told(opens, now))"
        case .effect(let effect, let last): return Self.sentence(effect, last, now)
        case .ended, .timer, .events, .nothing, .stuck, .retrying, .noWorker, .turnTrouble,
            .unreadInputs, .overdue:
            return ""
        }
    }

    private static func rate(_ perSecond: Double) -> String {
        perSecond >= 1 ? "\(perSecond) attempts a second" : "an attempt every \(1 / perSecond) s"
    }

    /// `http to crm`.
    private func place(_ effect: EffectView) -> String {
        "the account \(effect.account ?? effect.tool)"
    }

    private func name(_ effect: EffectView) -> String { Self.name(effect) }

    private static func name(_ effect: EffectView) -> String {
        "\(HistoryPhrase.short(effect.invocation.text)) (\(effect.tool)"
            + (effect.account.map { " to \($0)" } ?? "") + ")"
    }

    private static func sentence(_ effect: EffectView, _ last: String?, _ now: Instant) -> String {
        let start = "it waits for effect \(name(effect))"
        let made =
            counted(effect.attempts, "attempt") + " so far"
            + (last.map { ", the last ended \($0)" } ?? "")
        if effect.endedAt != nil {
            return "\(start), which ended \(effect.status); the result waits for a turn"
        }
        if let until = effect.leaseUntil {
            return until > now
                ? "\(start), in flight at most until \(told(until, now)); \(made)"
                : "\(start), whose attempt was lost \(told(until, now)); \(made)"
        }
        if let due = effect.dueAt {
            return "\(start), whose next attempt is due \(told(due, now)); \(made)"
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
