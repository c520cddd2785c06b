import JourneyModel
import Testing

@Suite struct NamesTests {
    @Test func `a derived id is 32 hex digits and the same for the same parts`() {
        let id = derivedID("event", "shop", "1")
        #expect(id == derivedID("event", "shop", "1"))
        #expect(id.utf8.count == 32)
        #expect(id.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) })
    }

    @Test func `no two lists of parts run together`() {
        let lists = [
            derivedID("ab", "c"), derivedID("a", "bc"), derivedID("abc"), derivedID("ab", "c", ""),
            derivedID("", "ab", "c"), derivedID("a", "b", "c"), derivedID("1:a"),
            derivedID("a", ""),
        ]
        #expect(Set(lists).count == lists.count)
    }

    @Test func `an event's id hangs on connector and provider event id`() {
        let id = Event.makeID(connector: "shop", providerEventID: "1")
        #expect(id.text.hasPrefix("evt_"))
        #expect(id.text.utf8.count == 36)
        #expect(id != Event.makeID(connector: "shop2", providerEventID: "1"))
        #expect(id != Event.makeID(connector: "shop", providerEventID: "2"))
    }

    @Test func `identifiers order by their text, customers by their number`() {
        #expect(WorkflowID("a") < WorkflowID("b"))
        #expect("\(StepID("tell"))" == "tell")
        #expect(CustomerID(9) < CustomerID(10))
        #expect("\(CustomerID(9))" == "9")
    }

    @Test func `every outcome stands once, in a namespace, with a meaning`() {
        let names = Vocabulary.outcomes.map(\.name)
        #expect(Set(names).count == names.count)
        for outcome in Vocabulary.outcomes {
            #expect(Vocabulary.owns(outcome.name), "\(outcome.name)")
            #expect(!outcome.meaning.isEmpty && !outcome.meaning.hasSuffix("."), "\(outcome.name)")
            #expect(Vocabulary.outcome(named: outcome.name) == outcome)
        }
        #expect(!Vocabulary.owns("checkout.opened"))
        #expect(!Vocabulary.owns("trials.started"))
        #expect(Vocabulary.outcome(named: "trial.startled") == nil)
    }

    @Test func `no property is declared twice`() {
        let names = Vocabulary.properties.map(\.name)
        #expect(Set(names).count == names.count)
    }
}
