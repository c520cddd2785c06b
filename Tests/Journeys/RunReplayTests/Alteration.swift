import JSON
import JourneyEngine
import JourneyModel
import RunReplay
import TestMaterial

/// A change that somebody makes to a stored history.
struct Alteration {
    enum Kind: String, CaseIterable {
        case outlet, edge, ending, due, entryGone, readValue, effectResult, eventContent, request
        case decisionGone
    }

    let kind: Kind
    /// The number of the decision that was altered.
    let decision: Int
    /// Where the run stood as the decision began, and what its entries name.
    let steps: Set<String>
    let altered: RecordedRun

    /// Alters one decision of the run; nil when no decision holds what the kind alters.
    init?(_ kind: Kind, of run: RecordedRun, _ generator: inout SeededGenerator) {
        let candidates = run.decisions.indices.filter { index in
            Self.altered(run.decisions[index].entries, kind) != nil
        }
        guard !candidates.isEmpty else { return nil }
        let index = generator.pick(candidates)
        var altered = run
        if kind == .decisionGone {
            // The last one leaves no gap; the row's count tells it.
            altered.decisions.remove(at: index)
        } else {
            guard let entries = Self.altered(run.decisions[index].entries, kind) else {
                return nil
            }
            altered.decisions[index].json["entries"] = .array(entries)
        }
        self.kind = kind
        self.altered = altered
        decision = run.decisions[index].number
        var steps: Set<String> = []
        for entry in run.decisions[index].entries {
            for key in ["from", "step", "to"] {
                if let step = entry[key]?.string { steps.insert(step) }
            }
        }
        let before = run.decisions[..<index].flatMap(\.entries)
        if let stood = before.last(where: { $0["from"] != nil || $0["step"] != nil }) {
            // Once it has ended, the last step that it passed.
            if let step = (stood["from"] ?? stood["step"])?.string { steps.insert(step) }
        }
        self.steps = steps
    }

    /// What becomes of an entry.
    private enum Change {
        case none
        case removal
        case replacement(JSONValue)
    }

    /// The entries with the first that fits the kind altered; nil when none does.
    private static func altered(_ entries: [JSONValue], _ kind: Kind) -> [JSONValue]? {
        for (place, entry) in entries.enumerated() {
            var all = entries
            switch change(entry, kind) {
            case .none: continue
            case .removal: all.remove(at: place)
            case .replacement(let changed): all[place] = changed
            }
            return all
        }
        return nil
    }

    private static func change(_ entry: JSONValue, _ kind: Kind) -> Change {
        func set(_ key: String, _ value: JSONValue, of kinds: String...) -> Change {
            guard kinds.contains(entry["kind"]?.string ?? ""), var object = entry.object,
                let old = object[key], old != value
            else { return .none }
            object[key] = value
            return .replacement(.object(object))
        }
        func remove(_ kinds: String...) -> Change {
            kinds.contains(entry["kind"]?.string ?? "") ? .removal : .none
        }
        switch kind {
        case .outlet: return set("outlet", "another", of: "moved")
        case .edge: return set("to", "elsewhere", of: "moved")
        case .ending: return set("status", "cancelled", of: "ended")
        case .due: return set("due", "2031-01-01T00:00:00.000Z", of: "waiting")
        case .entryGone: return remove("moved", "requested")
        case .readValue:
            guard var values = entry["values"]?.object, let first = values.members.first else {
                return .none
            }
            values[first.key] = first.value == 1_234 ? 4_321 : 1_234
            return set("values", .object(values), of: "read")
        case .effectResult:
            return set(
                "outcome", ["outcome": "succeeded", "result": ["status": 299]], of: "input")
        case .eventContent:
            guard var scope = entry["scope"]?.object else { return .none }
            scope["n"] = 1_234
            return set("scope", .object(scope), of: "input")
        case .request: return set("request", ["path": "/other"], of: "requested")
        case .decisionGone: return remove("moved", "ended")
        }
    }
}

extension RecordedRun {
    /// The run as a version without seals would have kept it.
    var unsealed: RecordedRun {
        var run = self
        for index in run.decisions.indices { run.decisions[index].json["seal"] = nil }
        return run
    }
}
