internal import JSON
internal import TimeZones
package import WorkflowDefinitions

extension Evaluator {
    /// Decides a condition by three-valued logic, with its explanation.
    package mutating func decide(_ condition: Condition) -> Verdict {
        decide(condition, at: JSONPointer())
    }

    mutating func decide(_ condition: Condition, at place: JSONPointer) -> Verdict {
        switch condition {
        case .all(let parts): return combine(parts, at: place.appending("all"), deciding: .false)
        case .any(let parts): return combine(parts, at: place.appending("any"), deciding: .true)
        case .not(let part):
            let inner = decide(part, at: place.appending("not"))
            return Verdict(
                truth: inner.truth.negated, because: inner.because, changesAt: inner.changesAt)
        case .compare(let comparison, let left, let right):
            let operands = [operand(left), operand(right)]
            let truth = compare(comparison, operands[0].json, operands[1].json)
            return leaf(comparison.rawValue, operands, truth, at: place)
        case .between(let value, let low, let high):
            let operands = [operand(value), operand(low), operand(high)]
            let above = compare(.gte, operands[0].json, operands[1].json)
            let below = compare(.lte, operands[0].json, operands[2].json)
            return leaf("between", operands, all([above, below]), at: place)
        case .isIn(let value, let choices):
            let operands = ([value] + choices).map { operand($0) }
            let answers = operands.dropFirst().map { compare(.eq, operands[0].json, $0.json) }
            return leaf("in", operands, any(Array(answers)), at: place)
        case .contains(let whole, let part):
            let operands = [operand(whole), operand(part)]
            return leaf(
                "contains", operands, contains(operands[0].json, operands[1].json), at: place)
        case .text(let test, let whole, let part):
            let operands = [operand(whole), operand(part)]
            return leaf(
                test.rawValue, operands, textTest(test, operands[0].json, operands[1].json),
                at: place)
        case .exists(let pointer):
            let found = operand(.reference(pointer, default: nil))
            let truth = hasNoRaw && pointer.isRaw ? .unknown : Truth(found.json != nil)
            return leaf("exists", [found], truth, at: place)
        case .feature(let test): return decide(test, at: place.appending("feature"))
        case .segment(let id, let test):
            return decide(id, test, at: place.appending("segment"))
        case .subscription(let part):
            return decide(ofAnySubscription: part, at: place.appending("subscription"))
        case .events(let history):
            return decide(history, as: condition, at: place.appending("events"))
        case .envelope(_, let compiled): return decide(compiled, at: place.appending("ir"))
        case .truthy(let value):
            let operand = operand(value)
            return leaf("truthy", [operand], truthiness(operand.json), at: place)
        case .constant(let flag): return leaf("constant", [], Truth(flag), at: place)
        case .undecidable: return leaf("undecidable", [], .unknown, at: place)
        }
    }

    /// Every part is evaluated, so that the reads and the next change are those of the whole.
    private mutating func combine(
        _ parts: [Condition], at place: JSONPointer, deciding: Truth
    ) -> Verdict {
        var verdicts: [Verdict] = []
        for (index, part) in parts.enumerated() {
            verdicts.append(decide(part, at: place.appending(index)))
        }
        return join(verdicts, deciding: deciding)
    }

    /// Kleene's `any` (deciding on true) or `all` (deciding on false), with the leaves that decided.
    func join(_ verdicts: [Verdict], deciding: Truth) -> Verdict {
        let changesAt = verdicts.compactMap(\.changesAt).min()
        if let decider = verdicts.first(where: { $0.truth == deciding }) {
            return Verdict(truth: deciding, because: decider.because, changesAt: changesAt)
        }
        let open = verdicts.filter { $0.truth == .unknown }
        return Verdict(
            truth: open.isEmpty ? deciding.negated : .unknown,
            because: (open.isEmpty ? verdicts : open).flatMap(\.because), changesAt: changesAt)
    }

    private func leaf(
        _ operation: String, _ operands: [Operand], _ truth: Truth, at place: JSONPointer
    ) -> Verdict {
        let leaf = Verdict.Leaf(
            pointer: place.appending(operation), operation: operation,
            operands: operands.map(\.json), truth: truth)
        return Verdict(truth: truth, because: [leaf], changesAt: nextChange(among: operands))
    }

    /// Where `/now` moved by a duration meets a fixed instant: at that instant, or a millisecond
    /// later, a comparison of the two can turn.
    private func nextChange(among operands: [Operand]) -> Instant? {
        let moving = operands.compactMap(\.fromNow)
        guard !moving.isEmpty else { return nil }
        let fixed = operands.filter { $0.fromNow == nil }
            .compactMap { $0.json?.string.flatMap { Instant($0) } }
        return fixed.flatMap { instant in
            moving.flatMap { moved in
                let meeting = instant - moved
                return [meeting, meeting + .milliseconds(1)]
            }
        }
        .filter { $0 > scope.now }
        .min()
    }

    func all(_ truths: [Truth]) -> Truth {
        if truths.contains(.false) { return .false }
        return truths.contains(.unknown) ? .unknown : .true
    }

    private func any(_ truths: [Truth]) -> Truth {
        if truths.contains(.true) { return .true }
        return truths.contains(.unknown) ? .unknown : .false
    }

    // MARK: Operators

    private func compare(
        _ comparison: Condition.Comparison, _ left: JSONValue?, _ right: JSONValue?
    ) -> Truth {
        guard let left, let right else { return .unknown }
        switch comparison {
        case .eq: return Comparand.equal(left, right)
        case .neq: return Comparand.equal(left, right).negated
        case .lt, .lte, .gt, .gte:
            guard let order = Comparand.order(left, right) else { return .unknown }
            switch comparison {
            case .lt: return Truth(order < 0)
            case .lte: return Truth(order <= 0)
            case .gt: return Truth(order > 0)
            case .gte: return Truth(order >= 0)
            case .eq, .neq: return .unknown
            }
        }
    }

    private func contains(_ whole: JSONValue?, _ part: JSONValue?) -> Truth {
        guard let whole, let part else { return .unknown }
        switch (whole, part) {
        case (.array(let items), _): return any(items.map { Comparand.equal($0, part) })
        case (.string(let text), .string(let sought)):
            return Truth(Array(text.utf8).firstRange(of: Array(sought.utf8)) != nil)
        case (.null, _), (.bool, _), (.number, _), (.string, _), (.object, _): return .unknown
        }
    }

    /// Whether a value is anything but null, false, 0 and the empty text.
    private func truthiness(_ value: JSONValue?) -> Truth {
        switch value {
        case nil: .unknown
        case .null?: .false
        case .bool(let flag)?: Truth(flag)
        case .number(let number)?: Truth(JSONNumber.compare(number, JSONNumber(0)) != 0)
        case .string(let text)?: Truth(!text.isEmpty)
        case .array?, .object?: .true
        }
    }

    private func textTest(
        _ test: Condition.TextTest, _ whole: JSONValue?, _ part: JSONValue?
    ) -> Truth {
        guard let text = whole?.string, let sought = part?.string else { return .unknown }
        switch test {
        case .startsWith: return Truth(text.utf8.starts(with: sought.utf8))
        case .endsWith: return Truth(text.utf8.reversed().starts(with: sought.utf8.reversed()))
        }
    }
}

extension Array where Element == UInt8 {
    /// The first place where `sought` stands, by plain search; an empty one stands everywhere.
    fileprivate func firstRange(of sought: [UInt8]) -> Range<Int>? {
        guard sought.count <= count else { return nil }
        for start in 0...(count - sought.count)
        where self[start..<start + sought.count].elementsEqual(sought) {
            return start..<start + sought.count
        }
        return nil
    }
}
