internal import JSON
internal import JourneyModel

// Pointers and operand types, judged when every step is known.
extension DefinitionReader {
    mutating func checkClaims(
        _ graph: StepGraph, _ start: StepID, _ entry: Entry?, _ ids: [String]
    ) {
        guard let events, let entry else { return }
        let trigger: [String]? =
            switch entry.trigger {
            case .event(let names): names
            case .segment, .date, .schedule, .api: nil
            }
        let map = ScopeMap(
            events: events, trigger: trigger, watchesSubscription: entry.hasSubscription,
            bound: graph.boundEvents(from: start, trigger: trigger ?? []), tools: actionTools,
            stepIDs: ids, knowsEveryStep: !hasUnreadStep)
        for claim in claims { check(claim.claim, claim, map) }
    }

    /// A segment knows the customer only.
    mutating func checkSegmentClaims() {
        guard let events else { return }
        let map = ScopeMap(
            events: events, trigger: nil, watchesSubscription: false, bound: [:], tools: [:],
            stepIDs: [], knowsEveryStep: true)
        for claim in claims { check(claim.claim, claim, map) }
    }

    private mutating func check(_ claim: Claim, _ placed: PlacedClaim, _ map: ScopeMap) {
        func type(_ value: Value) -> StaticType { staticType(value, placed, map) }
        switch claim {
        case .reference(let pointer, let place):
            do throws(ScopeMap.Refusal) {
                _ = try map.type(of: pointer, for: placed)
            } catch {
                problems.add(place, error.sentence, code: .pointer, fix: error.fix)
            }
        case .comparison(let comparison, let left, let right, let place):
            add(OperandCheck.complaint(comparison, type(left), type(right)), at: place)
        case .membership(let left, let right, let place):
            add(OperandCheck.complaint(.eq, type(left), type(right)), at: place)
        case .containment(let left, let right, let place):
            add(OperandCheck.complaint(containing: type(left), type(right)), at: place)
        case .text(let value, let place):
            add(OperandCheck.complaint(text: type(value)), at: place)
        case .instant(let value, let place):
            add(OperandCheck.complaint(instant: type(value)), at: place)
            if case .reference(_, let fallback?) = value {
                check(.instant(fallback, at: place.appending("default")), placed, map)
            }
        case .property(let value, let declared, let place):
            add(OperandCheck.complaint(property: declared, type(value)), at: place)
        }
    }

    private mutating func add(_ complaint: String?, at place: JSONPointer) {
        if let complaint { problems.add(place, complaint, code: .type) }
    }

    /// A pointer that may not stand there has its own complaint and counts as unknown here.
    private func staticType(_ value: Value, _ placed: PlacedClaim, _ map: ScopeMap) -> StaticType {
        switch value {
        case .literal(let literal):
            switch literal {
            case .null: .null
            case .bool: .type(.boolean)
            case .number: .type(.number)
            case .string(let text): .text(text)
            case .array: .type(.array)
            case .object(let object): .object(object)
            }
        case .reference(let pointer, _): (try? map.type(of: pointer, for: placed)) ?? .any
        case .template: .type(.string)
        case .time: .type(.instant)
        }
    }
}

extension Entry {
    /// Whether a run has one subscription that `/subscription` is.
    var hasSubscription: Bool {
        switch trigger {
        case .event: true
        case .date(let date): date.watchesSubscriptions
        case .segment, .schedule, .api: false
        }
    }
}
