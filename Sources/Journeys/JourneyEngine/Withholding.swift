package import JSON
internal import JourneyModel
internal import WorkflowDefinitions

/// Why a run sends nothing, for life: it was started by a replay (S13).
///
/// Each of its actions takes `next` at once with `{"suppressed": reason}`; what it asks of other workflows
/// by `start_run` is withheld, too.
package struct Withholding: Sendable, Hashable {
    /// The word in the results, such as `replay`.
    package var reason: String
    /// Whether each request is rendered and kept, so that one can see what would have been sent.
    package var recordsRequests: Bool

    package init(reason: String, recordsRequests: Bool) {
        self.reason = reason
        self.recordsRequests = recordsRequests
    }

    /// The stored form: `{"reason", "records"}`.
    package var json: JSONValue {
        ["reason": .string(reason), "records": .bool(recordsRequests)]
    }

    /// Reads what ``json`` wrote; nil for anything else.
    package init?(json: JSONValue) {
        guard let reason = json["reason"]?.string, let records = json["records"]?.bool else {
            return nil
        }
        self.init(reason: reason, recordsRequests: records)
    }
}

extension RunMachine {
    /// Passes an action by: its result says why, and the run goes on.
    mutating func withhold(
        _ action: ActionStep, _ effect: EffectRequest, because withholding: Withholding
    ) {
        if withholding.recordsRequests {
            var kept = effect
            kept.withheld = withholding.reason
            tell { $0.requests.append(kept) }
            record(.requested, effect.historyMembers)
        }
        record(
            .suppressed,
            JSONObject([
                ("step", .string(effect.step.text)),
                ("invocation", .string(effect.invocation.text)),
                ("reason", .string(withholding.reason)),
            ]))
        run.results[effect.step] = ["suppressed": .string(withholding.reason)]
        takeStanding()
        guard run.status.isLive else { return }
        leave(
            action, id: effect.step, by: .next,
            because: ["suppressed": .string(withholding.reason)])
    }
}
