package import JSON
internal import JourneyModel
internal import TimeZones

/// A public Nuxie condition envelope, `{"ir_version": 1, "expr": {…}}`, compiled to a ``Condition``, so
/// that one evaluator decides both.
///
/// A node that is not known here, or asks what cannot be answered, becomes *unknown*: it is never
/// *true*, and neither is its negation.
package struct ConditionEnvelope: Sendable, Hashable {
    /// Why a value is no envelope.
    package struct Problem: Error, Sendable, Hashable {
        package var sentence: String
        /// Whether it is one that is too large to be read.
        package var isTooLarge = false
    }

    /// The version of envelopes and of the engine that this evaluator speaks.
    package static let version: Int64 = 1

    package let condition: Condition
    /// Whether this engine is new enough for the envelope; when not, it is *unknown* as a whole.
    package let isSupported: Bool
    /// The types and operators that are not known here, in a reader's words.
    package let unknown: [String]

    /// Reads and compiles an envelope.
    ///
    /// - Throws: ``Problem`` when the value is not an envelope of version 1.
    package init(_ json: JSONValue) throws(Problem) {
        guard let object = json.object, object["ir_version"]?.integer == Self.version,
            let expression = object["expr"], expression.object != nil
        else {
            throw Problem(
                sentence: "An envelope is {\"ir_version\": 1, \"expr\": {…}} as Nuxie publishes it."
            )
        }
        let keys = ["ir_version", "engine_min", "compiled_at", "expr"]
        if let stranger = object.keys.first(where: { !keys.contains($0) }) {
            throw Problem(
                sentence: "The key \"\(stranger)\" is not one of an envelope; use "
                    + "\(alternatives(keys)).")
        }
        guard DefinitionReader.depth(expression) <= 2 * DefinitionReader.longestConditionDepth
        else {
            throw Problem(sentence: "This envelope is nested too deeply.", isTooLarge: true)
        }
        if let least = object["engine_min"] {
            let number = least.integer ?? least.string.flatMap { Int64($0) }
            guard let number, number <= Self.version else {
                isSupported = false
                unknown = ["an engine_min of \(least.string ?? least.text)"]
                condition = .undecidable("engine_min")
                return
            }
        }
        var compiler = EnvelopeCompiler()
        condition = compiler.condition(expression)
        isSupported = true
        unknown = compiler.unknown
        guard compiler.nodes <= DefinitionReader.mostConditionNodes else {
            throw Problem(
                sentence:
                    "This envelope has more than \(DefinitionReader.mostConditionNodes) nodes.",
                isTooLarge: true)
        }
    }
}
