import JSON
import Templates
import TestMaterial
import Testing

/// Mustache's public suite (github.com/mustache/spec, MIT): its six mandatory files.
@Suite struct MustacheSpecificationTests {
    private static let counts = [
        ("comments", 12), ("delimiters", 14), ("interpolation", 42), ("inverted", 22),
        ("partials", 12), ("sections", 34),
    ]

    @Test func `the public suite's 136 mandatory tests pass`() throws {
        guard let folder = Conformance.folder("suites/mustache-spec") else { return }
        var total = 0
        for (name, count) in Self.counts {
            let bytes = try #require(Conformance.bytes(of: folder + "/\(name).json"))
            let tests = try #require(try JSONParser.parse(bytes)["tests"]?.array)
            #expect(tests.count == count, "\(name)")
            for test in tests {
                let title = "\(name): \(test["name"]?.string ?? "")"
                #expect(try Self.render(test) == test["expected"]?.string, "\(title)")
                total += 1
            }
        }
        print("mustache-spec: \(total) tests checked")
        #expect(total == 136)
    }

    private static func render(_ test: JSONValue) throws -> String {
        var partials: [String: Template] = [:]
        for (name, source) in test["partials"]?.object?.members ?? [] {
            partials[name] = try Template(#require(source.string))
        }
        let template = try Template(#require(test["template"]?.string))
        return try template.render(
            value: #require(test["data"]),
            options: .init(missing: .empty, escaping: .html, partials: partials))
    }
}
