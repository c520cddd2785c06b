import JSON
import Testing
import WorkflowDefinitions

// That the schemas and the validator agree is held by deploy/check-schema, with a validator from outside.
struct LanguageSchemaTests {
    private func objects(in value: JSONValue) -> [JSONObject] {
        switch value {
        case .null, .bool, .number, .string: []
        case .array(let items): items.flatMap { objects(in: $0) }
        case .object(let object): [object] + object.flatMap { objects(in: $0.value) }
        }
    }

    @Test(arguments: LanguageSchema.allCases)
    func `a schema is complete in itself`(_ kind: LanguageSchema) throws {
        let schema = kind.json
        #expect(schema["$schema"] == "https://json-schema.org/draft/2020-12/schema")
        #expect(schema["title"]?.string == kind.rawValue)
        for object in objects(in: schema) {
            guard let reference = object["$ref"]?.string else { continue }
            let pointer = try #require(JSONPointer(String(reference.dropFirst())))
            #expect(pointer.resolve(in: schema) != nil, "\(reference)")
        }
        let text = schema.pretty
        #expect(!text.contains("@namespaces") && !text.contains("@vocabulary"))
    }

    @Test(arguments: LanguageSchema.allCases)
    func `every key has a text to hover over`(_ kind: LanguageSchema) {
        for object in objects(in: kind.json) where object["type"] == "object" {
            guard object["additionalProperties"] == false, object["required"] != nil else {
                continue
            }
            for (name, property) in object["properties"]?.object ?? JSONObject()
            where property.object != nil {
                let isTold =
                    property["description"] != nil || property["$ref"] != nil
                    || property["allOf"] != nil
                #expect(isTold, "\(kind.rawValue): \(name)")
            }
        }
    }

    @Test func `editors are offered the vocabulary with its meanings`() {
        let names = objects(in: LanguageSchema.workflow.json)
            .filter { $0["const"] == "trial.converted" }
        #expect(names.count == 1)
        #expect(names.first?["description"]?.string?.isEmpty == false)
    }
}
