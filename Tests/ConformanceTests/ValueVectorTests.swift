import JSON
import JourneyEngine
import Testing
import TimeZones
import WorkflowDefinitions

/// Nuxie's values and conditions over values. Their expressions are another language's, so an adapter says
/// each in ours; `/steps` stands for its responses.
@Suite struct ValueVectorTests {
    private static let missing = Value.reference(
        JSONPointer(tokens: ["steps", "none"]), default: nil)

    private func tree(_ json: JSONValue?) -> ValueTree {
        let key = json?["key"]?.string ?? ""
        func reference(_ root: String) -> ValueTree {
            .value(.reference(JSONPointer(tokens: [root, key]), default: nil))
        }
        switch json?["type"]?.string {
        case "Customer.Field": return reference("customer")
        case "Event.Field": return reference("event")
        case "Response.Field": return reference("steps")
        case "Array": return .array((json?["items"]?.array ?? []).map { tree($0) })
        case "Object":
            return .object(
                (json?["fields"]?.object ?? JSONObject()).map {
                    ValueTree.Member(key: $0.key, tree: tree($0.value))
                })
        case "Null": return .value(.literal(.null))
        default: return .value(.literal(json?["value"] ?? .null))
        }
    }

    /// Nil when a part of it is missing.
    private func resolve(_ json: JSONValue?, _ scope: Scope) -> JSONValue? {
        var evaluator = Evaluator(scope: scope)
        let whole = ValueTree.object([ValueTree.Member(key: "whole", tree: tree(json))])
        do throws(MissingValue) {
            return try evaluator.buildParameters(whole)["whole"]
        } catch {
            return nil
        }
    }

    /// Arrays and objects with parts to resolve are no values of the language: resolved first.
    private func value(_ json: JSONValue?, _ scope: Scope) -> Value {
        resolve(json, scope).map { .literal($0) } ?? Self.missing
    }

    private func condition(_ json: JSONValue?, _ scope: Scope) throws -> Condition {
        switch json?["type"]?.string {
        case "Not": return .not(try condition(json?["condition"], scope))
        case "All": return .all(try parts(json, scope))
        case "Any": return .any(try parts(json, scope))
        case "Truthy": return .truthy(value(json?["value"], scope))
        case "Contains":
            return .contains(value(json?["collection"], scope), value(json?["value"], scope))
        default:
            let comparisons: [String: Condition.Comparison] = [
                "==": .eq, "!=": .neq, "<": .lt, "<=": .lte, ">": .gt, ">=": .gte,
            ]
            let comparison = try #require(comparisons[json?["op"]?.string ?? ""])
            return .compare(
                comparison, value(json?["left"], scope), value(json?["right"], scope))
        }
    }

    private func parts(_ json: JSONValue?, _ scope: Scope) throws -> [Condition] {
        try (json?["conditions"]?.array ?? []).map { try condition($0, scope) }
    }

    private func scope(_ suite: JSONValue) -> Scope {
        Scope(
            event: suite["context"]?["event"]?.object,
            customer: suite["customer"]?.object ?? JSONObject(),
            steps: suite["context"]?["responses"]?.object ?? JSONObject(),
            now: Instant(milliseconds: 0))
    }

    @Test func `values are known or missing as the public vectors say`() throws {
        guard let folder = ConformanceFolder("nuxie/newer") else { return }
        let suite = try folder.json("values.json")
        let rows = suite["values"]?.array ?? []
        #expect(rows.count == 13)
        for row in rows {
            let found = resolve(row["expression"], scope(suite))
            let name = row["id"]?.string ?? ""
            #expect((found != nil) == row["known"]?.bool, "\(name)")
            if let found { #expect(found == row["expected"], "\(name)") }
        }
    }

    @Test func `conditions are decided as the public vectors say`() throws {
        guard let folder = ConformanceFolder("nuxie/newer") else { return }
        let suite = try folder.json("values.json")
        let wrongType = "operands of two types compare unknown (S11)"
        var deviations = Deviations([
            "no_number_coercion": wrongType, "contains_object_is_false": wrongType,
        ])
        let rows = suite["conditions"]?.array ?? []
        #expect(rows.count == 29)
        for row in rows {
            let scope = scope(suite)
            var evaluator = Evaluator(scope: scope)
            let truth = evaluator.decide(try condition(row["expression"], scope)).truth
            let expected: Truth =
                switch row["expected"]?.bool {
                case true?: .true
                case false?: .false
                case nil: .unknown
                }
            deviations.check(row["id"]?.string ?? "", truth, expected)
        }
        deviations.finish()
    }
}
