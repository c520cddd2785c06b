import Configuration
import JSON
import Settings
import Testing

@Suite struct SourceSettingsTests {
    private func read(_ sources: String) throws(ConfigurationRejection) -> WorkerSettings {
        let text = """
            {"database": {"url": "postgresql://db"}, "allow_literal_secrets": true, "sources": \(sources)}
            """
        return try WorkerSettings.read(
            ConfigurationSource(bytes: Array(text.utf8), environment: [:]))
    }

    @Test func `a back end has tokens, an app a public key`() throws {
        let settings = try read(
            #"""
            {"backend": {"token": "0123456789abcdef", "previous_token": "fedcba9876543210"},
             "app": {"public_key": "pk_live_1", "environment": "sandbox", "app": "shop"}}
            """#)
        #expect(
            settings.sources["backend"]?.access
                == .tokens(["0123456789abcdef", "fedcba9876543210"]))
        #expect(settings.sources["backend"]?.environment == "production")
        #expect(settings.sources["app"]?.access == .publicKey("pk_live_1"))
        #expect(settings.sources["app"]?.app == "shop")
    }

    @Test(arguments: [
        (#"{"a": {}}"#, "needs a token"),
        (#"{"a": {"token": "0123456789abcdef", "public_key": "pk_live_1"}}"#, "not both"),
        (#"{"a": {"token": "short"}}"#, "at least 16 bytes"),
        (#"{"a": {"public_key": "pk"}}"#, "at least 8 bytes"),
        (#"{"a": {"token": "0123456789abcdef", "tokens": []}}"#, "tokens"),
    ])
    func `a source that names nobody is refused`(sources: String, word: String) {
        do throws(ConfigurationRejection) {
            _ = try read(sources)
            Issue.record("taken")
        } catch {
            #expect(error.description.contains(word), "\(error)")
        }
    }
}
