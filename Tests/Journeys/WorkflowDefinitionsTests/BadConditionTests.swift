import JSON
import Testing
import WorkflowDefinitions

// Conditions, values and pointers; the place is the sample's branch unless a row says otherwise.
struct BadConditionTests {
    private static let place = "/steps/choose/branches/0/if"

    private static func row(
        _ json: String, at rest: String = "", _ phrase: String, fix: String? = nil
    ) -> BadDefinition {
        BadDefinition(place, json, at: place + rest, phrase, fix: fix)
    }

    private static func comparing(
        _ left: String, _ right: String, with name: String = "eq", at rest: String? = nil,
        _ phrase: String, fix: String? = nil
    ) -> BadDefinition {
        row("{\"\(name)\": [\(left), \(right)]}", at: rest ?? "/\(name)", phrase, fix: fix)
    }

    private static func reading(_ pointer: String, _ phrase: String, fix: String? = nil)
        -> BadDefinition
    {
        row("{\"exists\": {\"ref\": \"\(pointer)\"}}", at: "/exists/ref", phrase, fix: fix)
    }

    @Test(arguments: conditions)
    func `a wrong condition is refused in its place`(_ row: BadDefinition) { row.check() }

    @Test(arguments: operands)
    func `operands that are never of one type are refused`(_ row: BadDefinition) { row.check() }

    @Test(arguments: pointers)
    func `a pointer to nothing is refused`(_ row: BadDefinition) { row.check() }

    @Test(arguments: values)
    func `an ambiguous value is refused`(_ row: BadDefinition) { row.check() }

    static let conditions: [BadDefinition] = [
        row("true", "A condition is an object"),
        row("{}", "needs one operator"),
        row("{\"eq\": [1, 1], \"neq\": [1, 2]}", "has one operator"),
        row("{\"equals\": [1, 1]}", at: "/equals", "is not an operator"),
        row(
            "{\"starts_wiht\": [\"a\", \"b\"]}", at: "/starts_wiht", "not an operator",
            fix: "starts_with"),
        row("{\"feature\": {\"id\": \"a b\"}}", at: "/feature/id", "without blanks"),
        row("{\"segment\": {\"id\": \"s\"}}", at: "/segment", "exactly one of \"member\""),
        row("{\"ir\": {}}", at: "/ir", "An envelope is"),
        row("{\"all\": []}", at: "/all", "is empty"),
        row("{\"any\": {}}", at: "/any", "is an array"),
        row("{\"not\": []}", at: "/not", "A condition is an object"),
        row("{\"eq\": [1]}", at: "/eq", "takes [value, value]"),
        row("{\"between\": [1, 2]}", at: "/between", "takes [value, low, high]"),
        row(
            "{\"in\": [{\"ref\": \"/event/store\"}, \"app_store\"]}", at: "/in/1",
            "a list of 1 to 1000"),
        row("{\"exists\": \"/event/store\"}", at: "/exists", "takes {\"ref\""),
        row(
            "{\"exists\": {\"ref\": \"/now\", \"default\": 1}}", at: "/exists", "nothing beside it"),
    ]

    static let operands: [BadDefinition] = [
        comparing("{\"ref\": \"/trigger/is_family_share\"}", "\"true\"", "without quotes"),
        comparing("{\"ref\": \"/trigger/expires_at\"}", "\"tomorrow\"", with: "lt", "RFC 3339"),
        comparing("{\"ref\": \"/trigger/store\"}", "7", "which are never equal"),
        comparing("{\"ref\": \"/trigger/price\"}", "9.99", with: "gte", "\"currency\": \"USD\""),
        comparing(
            "{\"ref\": \"/trigger/price\"}", "{\"amount\": 9.99, \"currency\": \"USD\"}", "money"),
        comparing(
            "{\"ref\": \"/trigger/price/amount\"}", "\"9.99\"", with: "gt", "An amount is text"),
        comparing("{\"ref\": \"/trigger/is_family_share\"}", "true", with: "lt", "has no order"),
        comparing("{\"ref\": \"/now\"}", "null", with: "lt", "Null has no order"),
        comparing("{\"ref\": \"/run/version\"}", "\"1\"", "without quotes"),
        comparing("{\"ref\": \"/steps/tell/status\"}", "\"200\"", "without quotes"),
        comparing("{\"ref\": \"/now\"}", "{\"ref\": \"/run/id\"}", "an instant with a string"),
        row(
            "{\"between\": [{\"ref\": \"/now\"}, \"2026-01-01T00:00:00Z\", \"later\"]}",
            at: "/between",
            "RFC 3339"),
        row(
            "{\"in\": [{\"ref\": \"/trigger/store\"}, [\"play_store\", 1]]}", at: "/in/1/1",
            "never equal"),
        row(
            "{\"contains\": [{\"ref\": \"/now\"}, \"2026\"]}", at: "/contains",
            "into an array or a string"),
        row(
            "{\"contains\": [{\"ref\": \"/trigger/store\"}, 1]}", at: "/contains",
            "This is a string"),
        row(
            "{\"starts_with\": [{\"ref\": \"/run/version\"}, \"1\"]}", at: "/starts_with/0",
            "This is a string"),
        row("{\"ends_with\": [{\"ref\": \"/run/id\"}, 1]}", at: "/ends_with/1", "This is a string"),
    ]

    static let pointers: [BadDefinition] = [
        reading("/evnt/store", "names nothing", fix: "/event/store"),
        reading("event.store", "not a JSON Pointer", fix: "/event/store"),
        reading("/trigger/prodct_id", "carries \"prodct_id\"", fix: "/trigger/product_id"),
        reading("/trigger/price/amout", "amount and currency only", fix: "/trigger/price/amount"),
        reading("/trigger/store/name", "has no members", fix: "/trigger/store"),
        reading("/event/raw/type", "\"where\" and \"unless\" only"),
        reading("/trigger/raw", "\"where\" and \"unless\" only"),
        reading("/event/meta/nmae", "has no \"nmae\"", fix: "/event/meta/name"),
        reading("/event/meta/lat", "has no \"lat\"", fix: "/event/meta/late"),
        reading("/run/verson", "has no \"verson\"", fix: "/run/version"),
        reading("/now/year", "has no members", fix: "/now"),
        reading("/steps", "needs a step's id"),
        reading("/steps/tel/status", "no step \"tel\"", fix: "/steps/tell/status"),
        reading("/steps/pause/status", "only action steps"),
        reading("/steps/tell/staus", "has no \"staus\"", fix: "/steps/tell/status"),
        reading("/subscription/staus", "has no \"staus\"", fix: "/subscription/status"),
        reading("/features", "needs a feature's id"),
        reading("/features/pro/alowed", "has no \"alowed\"", fix: "/features/pro/allowed"),
    ]

    static let values: [BadDefinition] = [
        comparing(
            "{\"ref\": \"/event/store\", \"template\": \"x\"}", "1", at: "/eq/0", "ambiguous"),
        comparing(
            "{\"ref\": \"/event/store\", \"defualt\": 1}", "1", at: "/eq/0", "ambiguous",
            fix: "default"),
        comparing("{\"template\": 1}", "\"a\"", at: "/eq/0/template", "is a string"),
        comparing(
            "{\"time\": {\"ref\": \"/now\"}}", "{\"ref\": \"/now\"}", at: "/eq/0",
            "exactly one of \"plus\""),
        comparing(
            "{\"time\": {\"ref\": \"/now\"}, \"plus\": \"-P1D\"}", "{\"ref\": \"/now\"}",
            at: "/eq/0/plus", "has a sign"),
        comparing(
            "{\"time\": {\"ref\": \"/run/id\"}, \"plus\": \"P1D\"}", "{\"ref\": \"/now\"}",
            at: "/eq/0/time", "This is an instant"),
        comparing("{\"ref\": 1}", "1", at: "/eq/0/ref", "A ref is a JSON Pointer"),
        comparing(
            "{\"ref\": \"/customer/tags\"}", "[{\"ref\": \"/now\"}]", at: "/eq/1/0",
            "inside fixed JSON"),
        BadDefinition(
            "/steps/tell/with/json/ref", "\"abc\"", at: "/steps/tell/with/json", "ambiguous"),
        BadDefinition(
            "/steps/tell/with/json/product", "{\"ref\": \"/event/prodct_id\"}",
            at: "/steps/tell/with/json/product/ref", "No event read here", fix: "/event/product_id"),
        BadDefinition(
            "/steps/tell/with/path", "{\"template\": \"\"}",
            at: "/steps/tell/with/path/template", "is empty"),
        BadDefinition(
            "/steps/tell/with/path", "{\"template\": \"/x/{{event.product_id {{#if}}\"}",
            at: "/steps/tell/with/path/template", "cannot be read"),
        BadDefinition(
            "/steps/tell/with/path", "{\"template\": \"/x/{{nope.x}}\"}",
            at: "/steps/tell/with/path/template", "/nope"),
    ]

    @Test func `a condition is at most 32 deep`() {
        func nested(_ depth: Int) -> JSONValue {
            (1..<depth).reduce(value("{\"exists\": {\"ref\": \"/now\"}}")) { inner, _ in
                ["not": inner]
            }
        }
        let deepest = read(value(sample).setting(Self.place, to: nested(32)))
        #expect(deepest.diagnostics.isEmpty)
        let deeper = read(value(sample).setting(Self.place, to: nested(33)))
        #expect(deeper.diagnostics.map(\.sentence).joined().contains("more than 32 deep"))
    }

    @Test func `a condition has at most 512 operators`() {
        func wide(_ count: Int) -> JSONValue {
            let leaf = value("{\"exists\": {\"ref\": \"/now\"}}")
            return ["any": .array(Array(repeating: leaf, count: count - 1))]
        }
        #expect(read(value(sample).setting(Self.place, to: wide(512))).diagnostics.isEmpty)
        let wider = read(value(sample).setting(Self.place, to: wide(513)))
        #expect(wider.diagnostics.map(\.sentence).joined().contains("more than 512 operators"))
    }
}
