import JSON
import Testing
import WorkflowDefinitions

/// One wrong definition: the sample with one part changed, and the one diagnostic it must give.
struct BadDefinition: Sendable, CustomTestStringConvertible {
    /// Where the sample is changed.
    var change: String
    /// The JSON put there; nil removes the part.
    var json: String?
    /// Where the diagnostic points.
    var pointer: String
    /// Part of its sentence.
    var phrase: String
    /// The word it suggests.
    var fix: String?

    init(
        _ change: String, _ json: String?, at pointer: String? = nil, _ phrase: String,
        fix: String? = nil
    ) {
        self.change = change
        self.json = json
        self.pointer = pointer ?? change
        self.phrase = phrase
        self.fix = fix
    }

    var testDescription: String { "\(change) = \(json?.prefix(60) ?? "removed")" }

    /// Reads the changed sample and compares its errors with the one expected.
    func check() {
        let definition = value(sample).setting(change, to: json.map { value($0) })
        let outcome = read(definition)
        #expect(outcome.published == nil)
        let errors = outcome.diagnostics.filter { $0.severity == .error }
        #expect(errors.count == 1, "\(errors.map(\.description))")
        guard let error = errors.first else { return }
        #expect(error.pointer.description == pointer, "\(error)")
        #expect(error.sentence.contains(phrase), "\(error)")
        #expect(error.fix == fix, "\(error)")
        #expect(error.sentence.hasSuffix("."), "\(error)")
        #expect(error.line > 0 && error.column > 0, "\(error)")
    }
}
