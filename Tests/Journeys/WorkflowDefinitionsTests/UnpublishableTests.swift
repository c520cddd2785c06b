import JSON
import Testing
import WorkflowDefinitions

/// What can be read and not be written down is told like any other mistake.
@Suite struct UnpublishableTests {
    private func read(exits: String = "[]", with parameters: String) -> ParseOutcome {
        let text = """
            {"dsl": 1, "id": "odd", "kind": "automation",
             "entry": {"trigger": {"event": "trial.started"}}, "exits": \(exits), "start": "tell",
             "steps": {"tell": {"type": "action", "tool": "http", "account": "crm", "with": \(parameters),
               "next": "end"}}}
            """
        return WorkflowParser.read(
            Array(text.utf8), file: "odd.json", context: DefinitionContext())
    }

    @Test(arguments: [
        #"{"url": {"literal": "ftp://x"}}"#, #"{"path": {"literal": "x"}}"#,
        #"{"path": "/x", "json": {"a": {"b": {"literal": "#
            + String(repeating: "[", count: 31) + String(repeating: "]", count: 31) + "}}}}",
    ])
    func `a literal that its form hides is refused with a sentence`(parameters: String) {
        let outcome = read(with: parameters)
        #expect(outcome.published == nil)
        #expect(outcome.diagnostics.contains { $0.severity == .error })
    }

    @Test func `a reason made of many names is refused with a sentence`() {
        let names = [
            "subscription.grace_period_started", "subscription.product_change_cancelled",
            "subscription.product_change_scheduled", "subscription.price_increase_accepted",
            "subscription.price_increase_pending", "subscription.pause_scheduled",
            "subscription.refund_reversed", "subscription.resubscribed",
        ].map { "\"\($0)\"" }.joined(separator: ", ")
        let outcome = read(exits: "[{\"event\": [\(names)]}]", with: #"{"path": "/x"}"#)
        #expect(outcome.published == nil)
        #expect(outcome.diagnostics.contains { $0.severity == .error })
    }
}
