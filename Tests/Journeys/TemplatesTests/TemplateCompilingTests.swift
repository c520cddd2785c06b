import JSON
import Templates
import Testing

@Suite struct TemplateCompilingTests {
    @Test(arguments: [
        ("a {{b", TemplateError.Kind.tagNotClosed, 1, 3),
        ("{{{b}}", .tagNotClosed, 1, 1),
        ("{{! never", .tagNotClosed, 1, 1),
        ("é\n{{}}", .emptyName, 2, 1),
        ("é{{# }}", .emptyName, 1, 2),
        ("{{>}}", .emptyName, 1, 1),
        ("{{a b}}", .malformedName("a b"), 1, 1),
        ("{{a..b}}", .malformedName("a..b"), 1, 1),
        ("{{.a}}", .malformedName(".a"), 1, 1),
        ("{{a.}}", .malformedName("a."), 1, 1),
        ("{{>a b}}", .malformedName("a b"), 1, 1),
        ("{{=<%=}}", .malformedDelimiters("<%"), 1, 1),
        ("{{=a b c=}}", .malformedDelimiters("a b c"), 1, 1),
        ("{{=a= b=}}", .malformedDelimiters("a= b"), 1, 1),
        ("{{=12345678901234567 b=}}", .malformedDelimiters("12345678901234567 b"), 1, 1),
        ("{{a | default:\"x\"}}", .formatterNotSupported("a"), 1, 1),
        ("{{{a.b|money}}}", .formatterNotSupported("a.b"), 1, 1),
        ("{{<parent}}{{/parent}}", .inheritanceNotSupported, 1, 1),
        ("{{>*name}}", .dynamicPartialNotSupported("*name"), 1, 1),
        ("{{#a}}{{^b}}{{/b}}", .sectionNotClosed("a"), 1, 1),
        ("{{/a}}", .sectionNotOpen("a"), 1, 1),
        ("{{#a}}\n{{#b}}\n{{/a}}", .sectionClosedByOther(open: "b", closing: "a"), 3, 1),
    ])
    func `a faulty template is refused with its place`(
        source: String, kind: TemplateError.Kind, line: Int, column: Int
    ) {
        let error = #expect(throws: TemplateError.self) { try Template(source) }
        #expect(error?.kind == kind)
        #expect(error?.line == line)
        #expect(error?.column == column)
        #expect(error?.description.hasSuffix(".") == true)
    }

    @Test func `a formatter is refused with a sentence`() {
        let error = #expect(throws: TemplateError.self) { try Template("{{ a | date:\"d\" }}") }
        #expect(
            error?.description
                == "\"a\" is followed by a formatter at line 1, column 1; formatters are "
                + "not supported yet, so give a fallback with {{^name}}…{{/name}}.")
    }

    @Test func `the source is bounded`() throws {
        let size = Template.Limits.sourceBytes
        _ = try Template(String(repeating: "x", count: size))
        let error = #expect(throws: TemplateError.self) {
            try Template(String(repeating: "x", count: size + 1))
        }
        #expect(error?.kind == .sourceTooLarge(bytes: size + 1))
    }

    @Test func `thirty-two open sections are accepted and the next is refused`() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "{{#a}}", count: depth) + "x"
                + String(repeating: "{{/a}}", count: depth)
        }
        let template = try Template(nested(32))
        let scope = JSONObject([("a", true)])
        #expect(try template.render(scope: scope, options: .init(escaping: .none)) == "x")
        let error = #expect(throws: TemplateError.self) { try Template(nested(33)) }
        #expect(error?.kind == .sectionsTooDeep)
    }

    @Test func `references are told once, in order, without the iterator`() throws {
        let template = try Template(
            "{{a.b}}{{#list}}{{.}}{{c}}{{^d}}{{a.b}}{{/d}}{{/list}}{{>p/q}}{{>r}}{{>p/q}}")
        #expect(template.references == ["a.b", "list", "c", "d"])
        #expect(template.partialNames == ["p/q", "r"])
    }

    @Test func `every reading tells its role, its place and the sections around it`() throws {
        let reads = try Template("{{#list}}\n {{.}}{{^d}}{{a.b}}{{/d}}{{/list}}{{e}}").reads
        #expect(reads.map(\.name) == ["list", ".", "d", "a.b", "e"])
        #expect(reads.map(\.role) == [.section, .variable, .section, .variable, .variable])
        #expect(reads.map(\.sections) == [[], ["list"], ["list"], ["list"], []])
        #expect(reads.map(\.line) == [1, 2, 2, 2, 2])
        #expect(reads.map(\.column) == [1, 2, 7, 13, 35])
    }

    @Test func `templates are equal by the bytes of their source`() throws {
        #expect(try Template("{{a}}") == Template("{{a}}"))
        #expect(try Template("\u{e9}") != Template("e\u{301}"))
        #expect(try Set([Template("{{a}}"), Template("{{a}}"), Template("{{b}}")]).count == 2)
    }
}
