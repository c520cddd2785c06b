import JSON
import Templates
import TestMaterial
import Testing

/// Templates broken at random compile or are refused, render or fail, and never trap.
@Suite struct TemplateMutationTests {
    private static let pieces = [
        "{{", "}}", "{{{", "}}}", "{{#a}}", "{{/a}}", "{{^b.c}}", "{{/b.c}}", "{{#list}}",
        "{{/list}}",
        "{{.}}", "{{>p}}", "  {{>q}}\n", "{{=<% %>=}}", "<%={{ }}=%>", "{{!", "{{&b}}", "\r\n",
        "\n",
        " ", "\t", "é", "=", "|", "{{a}}", "\u{0}",
    ]

    @Test(arguments: [1, 20_260_101, 0xfeed] as [UInt64])
    func `a mutated template never traps`(seed: UInt64) throws {
        print("templates: seed=\(seed)")
        var generator = SeededGenerator(seed: seed)
        let scope = JSONObject([
            ("a", true), ("b", ["c": false, "d": nil]), ("list", [1, "<x>\ny", [], ["a": "in"]]),
        ])
        var compiled = 0
        var rendered = 0
        var partials: [String: Template] = [:]
        for round in 0..<4000 {
            var bytes = (0..<Int.random(in: 1...14, using: &generator))
                .flatMap { _ in Array((Self.pieces.randomElement(using: &generator) ?? "").utf8) }
            if round.isMultiple(of: 3) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[index] = UInt8.random(in: .min ... .max, using: &generator)
            }
            do throws(TemplateError) {
                let template = try Template(String(decoding: bytes, as: UTF8.self))
                compiled += 1
                partials[Bool.random(using: &generator) ? "p" : "q"] = template
                let options = Template.Options(
                    missing: round.isMultiple(of: 2) ? .empty : .error, escaping: .html,
                    partials: partials)
                _ = try template.render(scope: scope, options: options)
                rendered += 1
            } catch {
                #expect(error.line >= 1 && error.column >= 1 && error.description.hasSuffix("."))
            }
        }
        #expect(compiled > 100 && rendered > 50 && rendered < 4000)
    }
}
