package import Configuration
internal import Crypto
internal import JSON

/// Where actions go: one entry of `accounts`. Workflows name it and never see its secrets.
package struct AccountSettings: Sendable {
    /// The tools that accounts serve.
    package enum Tool: String, Sendable, Hashable, CaseIterable {
        case http
        case slack
        case log
    }

    /// So many messages to one customer within so long.
    package struct Cap: Sendable, Hashable {
        /// 1 to 1,000.
        package var messages: Int
        /// Up to 366 days.
        package var period: Duration
    }

    package var name: String
    package var tool: Tool
    /// What an action's `path` is appended to; nil when every action gives a whole `url`.
    package var baseURL: String?
    /// Where every request goes, whatever an action says; only for `outbound`.
    package var wholeURL: String?
    /// Hosts an attempt may go to; nil for the base URL's host alone, or any host without one.
    package var allowedHosts: Set<String>?
    /// Whether private and loopback addresses are allowed.
    package var allowsPrivate: Bool
    /// Signs requests as Standard Webhooks when set: base64, with or without `whsec_`; any other text is
    /// the key itself.
    package var signingSecret: Secret?
    /// Headers added to every request; their values are secrets.
    package var headers: [(name: String, value: Secret)]
    /// What a customer's `unsubscribed` names, for an account whose actions are messages; nil for others.
    package var channel: String?
    /// Most messages to one customer; nil for no bound.
    package var cap: Cap?
    /// Where a `slack` account posts; a secret, since whoever knows it can post.
    package var url: Secret?
    /// Attempts at once, over all processes.
    package var concurrency: Int
    /// Attempts a second, over all processes; nil for no bound.
    package var ratePerSecond: Double?
    /// Whether the receiver honours the idempotency key, so that an attempt of unknown outcome may be
    /// repeated (S13).
    package var isIdempotent: Bool

    init(_ reader: ConfigurationReader, name: String) {
        self.name = name
        tool = reader.choice("tool", default: Tool.http)
        let base = reader.string("base_url")
        baseURL = base
        allowedHosts = reader.stringArray("allow_hosts").map { Set($0.map { $0.lowercased() }) }
        allowsPrivate = reader.bool("allow_private", default: false)
        signingSecret = reader.secret("secret")
        let headerReader = reader.object("headers")
        headers = headerReader.keys.compactMap { key in
            headerReader.secret(key).map { (key, $0) }
        }
        concurrency = reader.integer("concurrency", in: 1...1_024, default: 16)
        isIdempotent = reader.bool("idempotent", default: tool != .slack)
        channel = nil
        wholeURL = nil
        cap = nil
        url = reader.secret("url")
        ratePerSecond = nil
        if let text = reader.string("rate") {
            ratePerSecond = Self.rate(text)
            if ratePerSecond == nil {
                reader.problem("rate", "A rate is written \"50/s\", \"100/m\" or \"1000/h\".")
            }
        }
        checkHeaders(headerReader)
        checkSecret(reader)
        readMessages(reader)
        settlePlace(reader)
    }

    /// `messaging`, `channel` and `cap`.
    private mutating func readMessages(_ reader: ConfigurationReader) {
        let isMessaging = reader.bool("messaging", default: false)
        let name = reader.string("channel")
        if let capReader = reader.optionalObject("cap") {
            cap = Cap(
                messages: capReader.integer("messages", in: 1...1_000, default: 1),
                period: capReader.duration(
                    "per", in: .seconds(1) ... .seconds(366 * 86_400), default: .seconds(86_400)))
            for key in ["messages", "per"] where !capReader.keys.contains(key) {
                capReader.problem(
                    key, "A cap says how many messages, and per how long; write both.")
            }
        }
        guard isMessaging else {
            for key in ["channel", "cap"] where reader.keys.contains(key) {
                reader.problem(
                    key, "Only messages have it; set \"messaging\": true, or leave it out.")
            }
            return
        }
        if tool == .http, name == nil {
            reader.problem(
                "channel",
                "What kind of message an http account sends is not known; name it, such as \"email\"."
            )
        }
        let word = name ?? tool.rawValue
        let isWord =
            (1...63).contains(word.utf8.count)
            && word.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x61...0x7a).contains(byte)
                    || "_-".utf8.contains(byte)
            }
        if !isWord {
            reader.problem(
                "channel", "A channel is a word of a-z, 0-9, _ and -; write one, such as \"email\"."
            )
        }
        channel = word
    }

    /// Where attempts go, by tool.
    private mutating func settlePlace(_ reader: ConfigurationReader) {
        switch tool {
        case .http:
            if url != nil {
                reader.problem("url", "An http account has base_url; url is for slack. Rename it.")
            }
            settleHosts(reader)
        case .log:
            if url != nil { reader.problem("url", "The log goes nowhere; leave it out.") }
        case .slack: settleSlack(reader)
        }
    }

    /// A webhook's URL is whole and secret: nothing is put behind it, and only its host may be called.
    private mutating func settleSlack(_ reader: ConfigurationReader) {
        for key in ["base_url", "secret", "headers"] where reader.keys.contains(key) {
            reader.problem(key, "A slack account has only its url; leave this out.")
        }
        guard let url else {
            if !reader.keys.contains("url") {
                reader.problem(
                    "url",
                    "A slack account needs the URL of an incoming webhook; write it as a secret.")
            }
            return
        }
        guard let host = Self.host(of: url.revealed) else {
            reader.problem(
                "url", "It must be an http:// or https:// URL with a host; write one.")
            return
        }
        if let allowed = allowedHosts, !allowed.contains(host) {
            reader.problem("allow_hosts", "The host of url is not on the list; add it.")
        }
        allowedHosts = [host]
    }

    /// The base URL's host is the one that may be called, unless a list says otherwise.
    private mutating func settleHosts(_ reader: ConfigurationReader) {
        guard let base = baseURL else {
            if tool == .http, allowedHosts == nil, signingSecret != nil || !headers.isEmpty {
                reader.problem(
                    "base_url",
                    "An account with secrets needs base_url or allow_hosts, so that no event decides "
                        + "where they are sent; write one.")
            }
            return
        }
        guard let host = Self.host(of: base) else {
            reader.problem(
                "base_url", "It must be an http:// or https:// URL with a host; write one.")
            return
        }
        if base.contains("?") || base.contains("#") {
            reader.problem(
                "base_url", "An action's path is put behind it; leave out what begins with ? or #.")
        }
        guard let allowed = allowedHosts else {
            allowedHosts = [host]
            return
        }
        if !allowed.contains(host) {
            reader.problem(
                "allow_hosts", "The host of base_url, \(host), is not on the list; add it.")
        }
    }

    func checkHeaders(_ reader: ConfigurationReader) {
        for (name, value) in headers {
            let isName =
                !name.isEmpty
                && name.utf8.allSatisfy { byte in
                    (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte)
                        || (0x61...0x7a).contains(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            if !isName { reader.problem(name, "This is not a header's name; mend it.") }
            if Self.reservedHeaders.contains(name.lowercased()) {
                reader.problem(name, "The worker writes this header itself; leave it out.")
            }
            if value.revealed.utf8.contains(where: { $0 < 0x20 && $0 != 9 || $0 == 0x7f }) {
                reader.problem(name, "The value holds a control character; remove it.")
            }
        }
    }

    func checkSecret(_ reader: ConfigurationReader) {
        guard let text = signingSecret?.revealed, text.hasPrefix("whsec_"),
            StandardWebhooksSignature.key(fromSecret: text) == nil
        else { return }
        reader.problem(
            "secret", "What follows whsec_ must be standard base64; copy the secret again.")
    }

    private static let reservedHeaders: Set<String> = [
        "host", "content-length", "transfer-encoding", "connection", "idempotency-key",
        "webhook-id", "webhook-timestamp", "webhook-signature",
    ]

    static func rate(_ text: String) -> Double? {
        let parts = text.split(separator: "/")
        guard parts.count == 2, let count = Int(parts[0]), count > 0 else { return nil }
        switch parts[1] {
        case "s": return Double(count)
        case "m": return Double(count) / 60
        case "h": return Double(count) / 3_600
        default: return nil
        }
    }

    /// The host of an http(s) URL in lower case, without port; nil when there is none.
    package static func host(of url: String) -> String? {
        let lower = url.lowercased()
        guard let scheme = ["https://", "http://"].first(where: { lower.hasPrefix($0) }) else {
            return nil
        }
        let authority = lower.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
        guard !authority.contains("@") else { return nil }
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            return String(authority[...end])
        }
        let host = authority.prefix { $0 != ":" }
        return host.isEmpty ? nil : String(host)
    }
}
