import TestMaterial
import TestSupport
import Testing

@Suite struct GraphTests {
    private let shipped = PackageFiles.path("Workflows/trial-onboarding.json")

    @Test func `a shipped workflow is drawn without a database`() async throws {
        let answer = try await ReplayWorld().run("graph", shipped)
        #expect(answer.code == 0, "\(answer.error)")
        #expect(answer.output.hasPrefix("trial-onboarding (journey)\n"))
        #expect(answer.output.contains("+- converted -> tell-converted: http crm /journey-events"))
    }

    @Test func `a picture is an SVG document`() async throws {
        let answer = try await ReplayWorld().run("graph", shipped, "--format", "svg")
        #expect(answer.code == 0)
        #expect(answer.output.hasPrefix("<svg "))
        #expect(answer.output.hasSuffix("</svg>\n"))
    }

    @Test func `another form is a usage error, another workflow is not found`() async throws {
        let form = try await ReplayWorld().run("graph", shipped, "--format", "png")
        #expect(form.code == 2)
        #expect(form.error.contains("ascii, dot, mermaid or svg"))
        #expect(try await ReplayWorld().run("graph", "no-such").code == 4)
    }
}
