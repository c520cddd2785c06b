import Configuration
import JSON
import Settings
import Testing

/// Accounts of Slack, and of messages to people.
@Suite struct MessagingAccountTests {
    private func read(_ account: JSONValue) -> (account: AccountSettings?, problems: [String]) {
        let json = SettingsWorld.json(JSONObject([("accounts", ["one": account])]))
        let problems = SettingsWorld.problems(json)
        return (try? SettingsWorld.read(json).accounts["one"], problems)
    }

    @Test func `a slack account is its URL alone, and only that host is called`() {
        let (account, problems) = read([
            "tool": "slack", "url": "https://hooks.slack.com/services/T0/B0/secret",
        ])
        #expect(problems.isEmpty)
        #expect(account?.allowedHosts == ["hooks.slack.com"])
        #expect(account?.url?.revealed == "https://hooks.slack.com/services/T0/B0/secret")
        // Nothing at Slack knows a repeat.
        #expect(account?.isIdempotent == false)
        #expect(account?.channel == nil)
    }

    @Test func `messages have a channel and may have a cap`() {
        let (account, problems) = read([
            "base_url": "https://mail.example.com", "messaging": true, "channel": "email",
            "cap": ["messages": 3, "per": "P7D"],
        ])
        #expect(problems.isEmpty)
        #expect(account?.channel == "email")
        #expect(account?.cap?.messages == 3)
        #expect(account?.cap?.period == .seconds(7 * 86_400))
        #expect(account?.isIdempotent == true)
        let slack = read(["tool": "slack", "url": "https://hooks.slack.com/x", "messaging": true])
        #expect(slack.account?.channel == "slack")
    }

    @Test(
        arguments: [
            (["tool": "slack"], "url"), (["tool": "slack", "url": "ftp://x"], "url"),
            (["tool": "slack", "url": "https://a.test/x", "secret": "s"], "secret"),
            (
                ["tool": "slack", "url": "https://a.test/x", "base_url": "https://a.test"],
                "base_url"
            ),
            (
                ["tool": "slack", "url": "https://a.test/x", "allow_hosts": ["b.test"]],
                "allow_hosts"
            ),
            (["base_url": "https://a.test", "url": "https://a.test"], "url"),
            (["base_url": "https://a.test", "messaging": true], "channel"),
            (["base_url": "https://a.test", "messaging": true, "channel": "E mail"], "channel"),
            (["base_url": "https://a.test", "channel": "email"], "channel"),
            (["base_url": "https://a.test", "cap": ["messages": 1, "per": "P1D"]], "cap"),
            (
                [
                    "base_url": "https://a.test", "messaging": true, "channel": "email",
                    "cap": ["messages": 1],
                ], "per"
            ),
        ] as [(JSONValue, String)])
    func `what does not fit an account is told with its place`(account: JSONValue, key: String) {
        let (read, problems) = read(account)
        #expect(read == nil)
        #expect(problems.contains { $0.contains("/\(key): ") }, "\(problems)")
    }
}
