import JSON
import Templates
import Testing

@Suite struct TemplateRenderingTests {
    private let scope = JSONObject([
        (
            "customer",
            [
                "first_name": "Zoë", "note": nil, "vip": true, "balance": 0, "blank": "",
                "tags": ["a", "b"],
            ]
        ),
        (
            "event",
            [
                "price": .number(JSONNumber(literal: "9.90") ?? JSONNumber(0)),
                "title": "<R&D's \"x\">",
            ]
        ),
    ])

    private func render(
        _ source: String, missing: Template.Missing = .error, escaping: Template.Escaping = .none,
        partials: [String: String] = [:]
    ) throws -> String {
        let compiled = try partials.mapValues { source in try Template(source) }
        return try Template(source).render(
            scope: scope, options: .init(missing: missing, escaping: escaping, partials: compiled))
    }

    private func failure(
        _ source: String, partials: [String: String] = [:]
    ) -> TemplateError? {
        #expect(throws: TemplateError.self) { try render(source, partials: partials) }
    }

    @Test func `numbers print their literal and booleans their word`() throws {
        let text = try render("{{event.price}} {{customer.balance}} {{customer.vip}}")
        #expect(text == "9.90 0 true")
    }

    @Test(arguments: [
        (Template.Escaping.html, "&lt;R&amp;D&#39;s &quot;x&quot;&gt;"),
        (.slack, "&lt;R&amp;D's \"x\"&gt;"), (.none, "<R&D's \"x\">"),
        (.url, "%3CR%26D%27s%20%22x%22%3E"),
    ])
    func `escaping follows the destination`(escaping: Template.Escaping, expected: String) throws {
        #expect(try render("{{event.title}}", escaping: escaping) == expected)
        #expect(try render("{{{event.title}}}", escaping: escaping) == "<R&D's \"x\">")
        #expect(try render("{{&event.title}}", escaping: escaping) == "<R&D's \"x\">")
    }

    @Test(arguments: [
        "customer.last_name", "customer.note", "customer.first_name.x", "customer.tags.0", "nobody",
    ])
    func `a variable without a value is an error that names it`(name: String) throws {
        let error = failure("Hi\n  {{\(name)}}")
        #expect(error?.kind == .missing(name))
        #expect(error?.line == 2)
        #expect(error?.column == 3)
        #expect(try render("[{{\(name)}}]", missing: .empty) == "[]")
    }

    @Test func `an error is a sentence with the fact, the place and the next step`() {
        #expect(
            failure("{{nobody}}")?.description
                == "\"nobody\" has no value at line 1, column 1; "
                + "send it, or give a fallback with {{^name}}…{{/name}}.")
    }

    @Test func `a section may test a missing name`() throws {
        #expect(
            try render("{{#nobody}}x{{/nobody}}{{^nobody.at_all}}there{{/nobody.at_all}}")
                == "there")
        let fallback =
            "{{#customer.note}}{{.}}{{/customer.note}}{{^customer.note}}none{{/customer.note}}"
        #expect(try render(fallback) == "none")
    }

    @Test func `zero and the empty string are values`() throws {
        let text = try render(
            "{{#customer.balance}}[{{.}}]{{/customer.balance}}{{#customer.blank}}[{{.}}]{{/customer.blank}}"
        )
        #expect(text == "[0][]")
    }

    @Test func `a list or object is refused in a message and JSON in a preview`() throws {
        #expect(failure("{{customer.tags}}")?.kind == .notText("customer.tags", kind: "an array"))
        #expect(failure("{{customer}}")?.kind == .notText("customer", kind: "an object"))
        #expect(try render("{{customer.tags}}", missing: .empty) == "[\"a\",\"b\"]")
    }

    @Test func `a partial's error names the partial and its own place`() {
        let error = failure("1\n2 {{>a}}", partials: ["a": "{{>b/c}}", "b/c": "\n {{nobody}}"])
        #expect(error?.kind == .missing("nobody"))
        #expect(error?.partial == "b/c")
        #expect(error?.line == 2)
        #expect(error?.column == 2)
        #expect(failure("{{>nope}}")?.kind == .partialMissing("nope"))
    }

    @Test func `indentation adds up, spares blank lines and values, and follows section lines`()
        throws
    {
        let text = try render(
            " {{>a}}\n", missing: .empty,
            partials: [
                "a": "1\n\n  {{>b}}\n{{#customer.tags}}\n- {{.}}\n{{/customer.tags}}\nx {{>b}}",
                "b": "b\r\n\r\nc\n",
            ])
        #expect(text == " 1\n\n   b\r\n\r\n   c\n - a\n - b\n x b\r\n\r\nc\n")
    }

    @Test func `recursion without end is refused at the seventeenth partial`() {
        #expect(failure("{{>a}}", partials: ["a": "{{>a}}"])?.kind == .partialsTooDeep("a"))
    }

    @Test func `sixteen open partials are accepted`() throws {
        var partials = ["p16": "end"]
        for number in 1..<16 { partials["p\(number)"] = "{{>p\(number + 1)}}" }
        #expect(try render("{{>p1}}", partials: partials) == "end")
    }

    @Test func `the deepest nesting that the limits allow is rendered`() throws {
        let open = String(repeating: "{{#.}}", count: Template.Limits.sectionDepth)
        let close = String(repeating: "{{/.}}", count: Template.Limits.sectionDepth)
        var partials = ["p16": open + "{{event.price}}" + close]
        for number in 0..<16 { partials["p\(number)"] = "\(open){{>p\(number + 1)}}\(close)" }
        #expect(try render(partials["p0"] ?? "", partials: partials) == "9.90")
    }

    @Test func `text is bounded`() throws {
        let size = Template.Limits.outputBytes
        let quarter = String(repeating: "x", count: size / 4)
        let fits = String(repeating: "{{>q}}", count: 4)
        #expect(try render(fits, partials: ["q": quarter]).utf8.count == size)
        #expect(failure(fits + "!", partials: ["q": quarter])?.kind == .outputTooLarge)
        let long = JSONObject([("long", .string(String(repeating: "&", count: size / 4)))])
        let template = try Template("{{long}}")
        let error = #expect(throws: TemplateError.self) {
            try template.render(scope: long, options: .init(escaping: .html))
        }
        #expect(error?.kind == .outputTooLarge)
    }

    @Test func `work without output is bounded`() {
        var partials: [String: String] = ["p8": ""]
        for number in 1..<8 {
            partials["p\(number)"] = String(repeating: "{{>p\(number + 1)}}", count: 100)
        }
        #expect(failure("{{>p1}}", partials: partials)?.kind == .tooMuchWork)
    }

    @Test func `names are compared by bytes`() throws {
        let decomposed = JSONObject([("e\u{301}", "x")])
        let options = Template.Options(missing: .empty, escaping: .none)
        #expect(try Template("{{\u{e9}}}").render(scope: decomposed, options: options) == "")
        #expect(try Template("{{e\u{301}}}").render(scope: decomposed, options: options) == "x")
    }
}
