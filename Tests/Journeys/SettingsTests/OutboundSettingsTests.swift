import Configuration
import JSON
import JourneyModel
import Settings
import Testing

@Suite struct OutboundSettingsTests {
    private func read(_ outbound: JSONValue) -> (settings: WorkerSettings?, problems: [String]) {
        let json = SettingsWorld.json(JSONObject([("outbound", outbound)]))
        return (try? SettingsWorld.read(json), SettingsWorld.problems(json))
    }

    @Test func `a whole URL and a secret are enough to be told of everything`() {
        let (settings, problems) = read([
            "url": "https://hooks.example.com/in?source=worker",
            "secret": "whsec_c2VjcmV0LXNlY3JldA==",
        ])
        #expect(problems.isEmpty, "\(problems)")
        #expect(settings?.outbound?.choice.kinds == Set(OutboundKind.allCases))
        #expect(settings?.outbound?.choice.environments == nil)
        #expect(settings?.accounts[OutboundKind.account] == nil)
        let account = settings?.accountsServed[OutboundKind.account]
        #expect(account?.wholeURL == "https://hooks.example.com/in?source=worker")
        #expect(account?.allowedHosts == ["hooks.example.com"])
        #expect(account?.isIdempotent == true)
    }

    @Test func `null is nobody`() {
        let (settings, problems) = read(.null)
        #expect(problems.isEmpty)
        #expect(settings?.outbound == nil)
        #expect(settings?.accountsServed.isEmpty == true)
    }

    @Test(
        arguments: [
            (["secret": "s"], "url"), (["url": "ftp://a.test", "secret": "s"], "url"),
            (["url": "https://a.test"], "secret"),
            (["url": "https://a.test", "secret": "s", "events": ["journey.started"]], "events"),
            (["url": "https://a.test", "secret": "s", "events": []], "events"),
            (["url": "https://a.test", "secret": "s", "rate": "fast"], "rate"),
            (["url": "https://a.test", "secret": "whsec_?"], "secret"),
            (["url": "https://a.test", "secret": "s", "base_url": "https://b.test"], "base_url"),
            (
                ["url": "https://a.test", "secret": "s", "headers": ["webhook-id": "1"]],
                "webhook-id"
            ),
        ] as [(JSONValue, String)])
    func `what does not fit is told with its place`(outbound: JSONValue, key: String) {
        let (settings, problems) = read(outbound)
        #expect(settings == nil)
        #expect(problems.contains { $0.contains("/\(key): ") }, "\(problems)")
    }

    @Test func `an account may not take the worker's own name`() {
        let json = SettingsWorld.json(
            JSONObject([("accounts", ["$outbound": ["base_url": "https://a.test"]])]))
        #expect(SettingsWorld.problems(json).contains { $0.contains("begins with $") })
    }
}
