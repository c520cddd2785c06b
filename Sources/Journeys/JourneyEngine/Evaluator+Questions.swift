internal import JSON
internal import JourneyModel
internal import TimeZones
internal import WorkflowDefinitions

// Conditions that ask the facts a question: features, segments, and every subscription at once. The answer
// is kept with the question, and where time alone will change it, that is known too (S22).
extension Evaluator {
    // MARK: feature

    mutating func decide(_ test: FeatureTest, at place: JSONPointer) -> Verdict {
        var entity: String?
        if let value = test.entity {
            guard let text = resolve(value).flatMap({ Engine.keyText($0) }) else {
                return verdict("feature", .unknown, [.string(test.id), nil], at: place)
            }
            entity = text
        }
        var question = JSONObject([("feature", .string(test.id))])
        question["entity"] = entity.map { .string($0) }
        let answer = ask(.object(question)) { facts in
            guard let feature = facts.features[test.id] else { return .absentMark }
            // Where the house answers, an entity without an allowance is denied: never the customer's own.
            let found = entity.map { feature.entities[$0] ?? .denied } ?? feature.own
            guard let found else { return .absentMark }
            var json = found.json
            json["changes_at"] = found.changesAt.map { .string($0.description) }
            return .object(json)
        }
        guard let answer, answer != .absentMark else {
            return verdict("feature", .unknown, [.string(test.id), nil], at: place)
        }
        // A test that asks for nothing asks whether the feature may be used.
        let asksForNothing = test.allowed == nil && test.unlimited == nil && test.balance == nil
        let parts = [
            (asksForNothing ? true : test.allowed).map { agrees($0, answer["allowed"]) },
            test.unlimited.map { agrees($0, answer["unlimited"]) },
            test.balance.map { holds($0, answer) },
        ].compactMap { $0 }
        return verdict(
            "feature", all(parts), [.string(test.id), answer], at: place,
            changesAt: answer["changes_at"]?.string.flatMap { Instant($0) })
    }

    private func agrees(_ wanted: Bool, _ found: JSONValue?) -> Truth {
        found?.bool.map { Truth($0 == wanted) } ?? .unknown
    }

    /// An unlimited balance is above every number; a feature that is not counted has none.
    private func holds(_ range: NumberRange, _ answer: JSONValue) -> Truth {
        if answer["unlimited"]?.bool == true { return Truth(range.atMost == nil) }
        return answer["balance"]?.number.map { Truth(range.contains($0)) } ?? .unknown
    }

    // MARK: segment

    mutating func decide(
        _ id: SegmentID, _ test: SegmentTest, at place: JSONPointer
    ) -> Verdict {
        let answer = ask(["segment": .string(id.text)]) { facts in
            guard let found = facts.segments[id.text] else { return .absentMark }
            var json = JSONObject([("member", .bool(found.isMember))])
            json["entered_at"] = found.enteredAt.map { .string($0.description) }
            return .object(json)
        }
        let operands = [.string(id.text), answer]
        guard let isMember = answer?["member"]?.bool else {
            return verdict("segment", .unknown, operands, at: place)
        }
        switch test {
        case .member(let wanted):
            return verdict("segment", Truth(isMember == wanted), operands, at: place)
        case .enteredWithin(let span):
            guard isMember else { return verdict("segment", .false, operands, at: place) }
            guard let enteredAt = answer?["entered_at"]?.string.flatMap({ Instant($0) }) else {
                return verdict("segment", .unknown, operands, at: place)
            }
            let last = enteredAt + span
            return verdict(
                "segment", Truth(scope.now <= last), operands, at: place,
                changesAt: last + .milliseconds(1))
        }
    }

    // MARK: subscription

    /// True if any subscription of the customer makes the condition true; false without any.
    mutating func decide(
        ofAnySubscription part: Condition, at place: JSONPointer
    ) -> Verdict {
        let answer = ask(["subscriptions": true]) { facts in
            .object(
                JSONObject(
                    facts.subscriptions.sorted { $0.key < $1.key }
                        .map { ($0.key.description, .object($0.value)) }))
        }
        guard let states = answer?.object else {
            return verdict("subscription", .unknown, [], at: place)
        }
        var verdicts: [Verdict] = []
        for (_, state) in states {
            var scope = scope
            scope.subscription = state.object
            var inner = Evaluator(scope: scope, facts: facts)
            inner.runStart = runStart
            inner.hasNoRaw = hasNoRaw
            inner.asksEachSubscription = true
            verdicts.append(inner.decide(part, at: place))
            reads.merge(inner.reads)
        }
        guard !verdicts.isEmpty else {
            return verdict("subscription", .false, [], at: place)
        }
        return join(verdicts, deciding: .true)
    }

    // MARK: Verdicts

    /// A leaf's verdict; a change that is not ahead is none.
    func verdict(
        _ operation: String, _ truth: Truth, _ operands: [JSONValue?], at place: JSONPointer,
        changesAt: Instant? = nil
    ) -> Verdict {
        let leaf = Verdict.Leaf(
            pointer: place, operation: operation, operands: operands, truth: truth)
        return Verdict(
            truth: truth, because: [leaf],
            changesAt: changesAt.flatMap { $0 > scope.now ? $0 : nil })
    }
}
