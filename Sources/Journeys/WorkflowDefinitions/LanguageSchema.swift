package import JSON
internal import JourneyModel

/// The JSON Schemas (2020-12) of the language's files, for editors: completion, hover texts, and the
/// same verdict as the validator for everything that a schema can say (`Diagnostic.Code`).
package enum LanguageSchema: String, Sendable, Hashable, CaseIterable {
    case workflow
    case segment
    case experiment
    case events
    case simulation

    /// The whole schema, with every definition that it refers to.
    package var json: JSONValue {
        guard case .object(var schema) = Self.parse(source) else { return .null }
        let shared = Self.parse(PackageResources.shared_json)["$defs"]?.object ?? JSONObject()
        var definitions = JSONObject()
        var ahead = Self.references(in: .object(schema))
        while let name = ahead.popLast() {
            guard definitions[name] == nil, let definition = shared[name] else { continue }
            definitions[name] = definition
            ahead += Self.references(in: definition)
        }
        if !definitions.isEmpty {
            schema["$defs"] = .object(
                JSONObject(shared.filter { definitions[$0.key] != nil }.map { ($0.key, $0.value) }))
        }
        return Self.fillIn(.object(schema))
    }

    private var source: [UInt8] {
        switch self {
        case .workflow: PackageResources.workflow_json
        case .segment: PackageResources.segment_json
        case .experiment: PackageResources.experiment_json
        case .events: PackageResources.events_json
        case .simulation: PackageResources.simulation_json
        }
    }

    private static func parse(_ bytes: [UInt8]) -> JSONValue {
        do throws(JSONError) {
            return try JSONParser.parse(bytes)
        } catch {
            preconditionFailure("a shipped schema is not JSON: \(error)")
        }
    }

    private static func references(in value: JSONValue) -> [String] {
        switch value {
        case .null, .bool, .number, .string: return []
        case .array(let items): return items.flatMap { references(in: $0) }
        case .object(let object):
            return object.flatMap { member in
                let prefix = "#/$defs/"
                if member.key == "$ref", let text = member.value.string, text.hasPrefix(prefix) {
                    return [String(text.dropFirst(prefix.count))]
                }
                return references(in: member.value)
            }
        }
    }

    /// The vocabulary stands in one place only, `Vocabulary`: its names, their meanings and its
    /// namespaces are put in where the shipped text leaves room for them.
    private static func fillIn(_ value: JSONValue) -> JSONValue {
        switch value {
        case .null, .bool, .number: return value
        case .string(let text):
            return text == "@namespaces" ? .string(namespaces) : value
        case .array(let items): return .array(items.map { fillIn($0) })
        case .object(let object):
            if object["oneOf"] == "@vocabulary" {
                var filled = object
                filled["oneOf"] = .array(
                    Vocabulary.outcomes.filter { !EventDeclarations.reachesNoRun($0.name) }.map {
                        ["const": .string($0.name), "description": .string($0.meaning)]
                    })
                return .object(filled)
            }
            return .object(JSONObject(object.map { ($0.key, fillIn($0.value)) }))
        }
    }

    private static var namespaces: String {
        let words = Vocabulary.namespaces.map { $0.split(separator: ".").joined() }
        return "^(" + words.joined(separator: "|") + ")\\."
    }
}
