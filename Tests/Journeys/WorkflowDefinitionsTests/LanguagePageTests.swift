import JSON
import JourneyModel
import TestMaterial
import Testing
import WorkflowDefinitions

// The page that describes the language: each of its examples is read by the reader it describes.
struct LanguagePageTests {
    private static let page =
        "Sources/Journeys/WorkflowDefinitions/WorkflowDefinitions.docc/Language.md"

    private func examples() throws -> [JSONValue] {
        let text = String(decoding: try PackageFiles.bytes(of: Self.page), as: UTF8.self)
        var examples: [JSONValue] = []
        for (index, part) in text.split(separator: "```json\n").enumerated() where index > 0 {
            let block = part.split(separator: "\n```").first.map(String.init) ?? ""
            examples.append(try JSONParser.parse(block))
        }
        return examples
    }

    private func workflow(entry: JSONValue?, send: JSONValue?, step: JSONValue?) -> JSONValue {
        var steps = JSONObject([("first", step ?? ["type": "exit"])])
        for name in step.map({ edges(of: $0) }) ?? [] where name != "end" {
            steps[name] = ["type": "exit"]
        }
        var definition = JSONObject([
            ("dsl", 1), ("id", "example"), ("kind", "journey"),
            ("entry", entry ?? ["trigger": ["event": "trial.started"]]), ("start", "first"),
            ("steps", .object(steps)),
        ])
        definition["send"] = send
        return .object(definition)
    }

    private func edges(of value: JSONValue) -> [String] {
        switch value {
        case .null, .bool, .number, .string: return []
        case .array(let items): return items.flatMap { edges(of: $0) }
        case .object(let object):
            let outlets = [
                "next", "else", "on_past", "on_invalid", "on_skip", "on_timeout", "on_failed",
            ]
            return object.flatMap { member -> [String] in
                if outlets.contains(member.key) { return member.value.string.map { [$0] } ?? [] }
                if member.key == "variants" {
                    return (member.value.object ?? JSONObject()).compactMap { $0.value.string }
                }
                return edges(of: member.value)
            }
        }
    }

    private func diagnostics(_ example: JSONValue) throws -> [Diagnostic] {
        let file = (example["id"]?.string ?? "example") + ".json"
        let bytes = Array(example.pretty.utf8)
        let context = try Whole.context()
        func read(_ definition: JSONValue) -> [Diagnostic] {
            WorkflowParser.read(
                Array(definition.pretty.utf8), file: "example.json", context: context
            ).diagnostics
        }
        if example["steps"] != nil {
            return WorkflowParser.read(bytes, file: file, context: context).diagnostics
        }
        if example["dsl"] != nil {
            if example["if"] != nil {
                return WorkflowParser.readSegment(bytes, file: file, context: context).diagnostics
            }
            if example["variants"] != nil {
                return WorkflowParser.readExperiment(bytes, file: file).diagnostics
            }
            return EventDeclarations.read(bytes, file: file).diagnostics
        }
        if example["trigger"] != nil {
            return read(workflow(entry: example, send: nil, step: nil))
        }
        if example["type"] != nil { return read(workflow(entry: nil, send: nil, step: example)) }
        if example["window"] != nil { return read(workflow(entry: nil, send: example, step: nil)) }
        return WorkflowParser.readCondition(bytes, file: file).1
    }

    @Test func `every example of the page is valid`() throws {
        let examples = try examples()
        #expect(examples.count >= 20)
        for example in examples {
            let found = try diagnostics(example)
            #expect(found.isEmpty, "\(example.text): \(found)")
        }
    }

    @Test func `the page names every step, operator and tool`() throws {
        let text = String(decoding: try PackageFiles.bytes(of: Self.page), as: UTF8.self)
        let schema = LanguageSchema.workflow.json
        let steps = schema["$defs"]?["step"]?["properties"]?["type"]?["enum"]?.array ?? []
        let operators = schema["$defs"]?["condition"]?["properties"]?.object?.keys ?? []
        #expect(steps.count == 12 && operators.count == 20)
        for word in steps.compactMap(\.string) + operators + ["http", "slack", "log"] {
            #expect(text.contains("`\(word)`"), "\(word)")
        }
    }
}
