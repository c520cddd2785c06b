import JSON
import JourneyModel
import Testing
import WorkflowDefinitions

struct EventDeclarationsTests {
    private func read(_ text: String) -> EventDeclarations.Outcome {
        EventDeclarations.read(Array(text.utf8), file: "Workflows/events.json")
    }

    @Test func `declared events keep their property types`() {
        let outcome = read(
            """
            {"dsl": 1, "events": {"checkout.opened": {"properties": {"id": "string", "at": "instant"}},
                                  "ping": {}}}
            """)
        #expect(outcome.diagnostics.isEmpty)
        #expect(
            outcome.declarations.events == [
                "checkout.opened": ["id": .string, "at": .instant], "ping": [:],
            ])
    }

    @Test(arguments: [
        ("{\"events\": {}}", "", "needs \"dsl\""),
        ("{\"dsl\": 2, \"events\": {}}", "/dsl", "\"dsl\": 1 only"),
        ("{\"dsl\": 1, \"events\": []}", "/events", "are an object"),
        ("{\"dsl\": 1, \"events\": {\"trial.opened\": {}}}", "/events/trial.opened", "namespaces"),
        ("{\"dsl\": 1, \"events\": {\"Checkout\": {}}}", "/events/Checkout", "not an event name"),
        (
            "{\"dsl\": 1, \"events\": {\"a\": {\"propertys\": {}}}}", "/events/a/propertys",
            "not one of"
        ),
        (
            "{\"dsl\": 1, \"events\": {\"a\": {\"properties\": {\"b\": \"strng\"}}}}",
            "/events/a/properties/b", "A property's type"
        ),
        (
            "{\"dsl\": 1, \"events\": {\"a\": {\"properties\": {\"raw\": \"object\"}}}}",
            "/events/a/properties/raw", "neither meta nor raw"
        ),
        ("{\"dsl\": 1", "", "ends too early"),
    ])
    func `wrong declarations are told with their place`(
        _ text: String, _ pointer: String, _ phrase: String
    ) {
        let told = read(text).diagnostics
        #expect(told.count == 1, "\(told)")
        #expect(told.first?.pointer.description == pointer)
        #expect(told.first?.sentence.contains(phrase) == true, "\(told)")
    }
}
