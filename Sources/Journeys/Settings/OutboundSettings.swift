internal import Configuration
internal import Crypto
package import JourneyModel

/// `outbound`: the one place that is told what happens to runs, as signed Standard Webhooks.
package struct OutboundSettings: Sendable {
    /// Sends through the same door as every effect; its name is ``OutboundKind/account``.
    package var account: AccountSettings
    package var choice: OutboundChoice

    init(_ reader: ConfigurationReader) {
        account = AccountSettings(outbound: reader)
        let words = reader.stringArray("events", limit: OutboundKind.allCases.count)
        let known = OutboundKind.allCases.map(\.rawValue)
        for word in words ?? [] where !known.contains(word) {
            reader.problem(
                "events",
                "There is no run event \"\(word.prefix(64))\"; there are "
                    + known.joined(separator: ", ") + ".")
        }
        if words?.isEmpty == true {
            reader.problem("events", "The list is empty; leave it out to be told of all.")
        }
        choice = OutboundChoice(
            kinds: Set(
                words.map { $0.compactMap(OutboundKind.init(rawValue:)) }
                    ?? OutboundKind.allCases),
            environments: reader.stringArray("environments", limit: 64).map { Set($0) })
    }
}

extension AccountSettings {
    /// An account whose URL is whole and whose requests are always signed. A receiver of Standard Webhooks
    /// knows repeats by `webhook-id`, so an attempt of unknown outcome is repeated.
    init(outbound reader: ConfigurationReader) {
        let url = reader.requiredString("url")
        name = OutboundKind.account
        tool = .http
        baseURL = nil
        wholeURL = url
        allowedHosts = Self.host(of: url).map { [$0] }
        allowsPrivate = reader.bool("allow_private", default: false)
        let secret = reader.requiredSecret("secret")
        signingSecret = secret
        let headerReader = reader.object("headers")
        headers = headerReader.keys.compactMap { key in
            headerReader.secret(key).map { (key, $0) }
        }
        channel = nil
        cap = nil
        self.url = nil
        concurrency = reader.integer("concurrency", in: 1...1_024, default: 8)
        ratePerSecond = nil
        isIdempotent = true
        if let text = reader.string("rate") {
            ratePerSecond = Self.rate(text)
            if ratePerSecond == nil {
                reader.problem("rate", "A rate is written \"50/s\", \"100/m\" or \"1000/h\".")
            }
        }
        if allowedHosts == nil, !url.isEmpty {
            reader.problem("url", "It must be an http:// or https:// URL with a host; write one.")
        }
        checkHeaders(headerReader)
        checkSecret(reader)
    }
}

extension WorkerSettings {
    /// Every account that attempts are made for, the worker's own among them.
    package var accountsServed: [String: AccountSettings] {
        guard let outbound else { return accounts }
        var served = accounts
        served[OutboundKind.account] = outbound.account
        return served
    }
}
