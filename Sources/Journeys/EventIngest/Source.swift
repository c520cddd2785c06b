internal import Crypto
package import JourneyModel

/// Who may send the app's own events: a back end with a token, or an app with a public key.
package struct Source: Sendable {
    /// As `sources` names it; its events carry it as their connector.
    package let name: String
    /// `source` for a back end, `client` for an app whose key anybody can read out of it.
    package let trust: Event.Trust
    /// The environment of what it sends.
    package let environment: String
    /// Keys everything about a customer when set (S17).
    package let app: String?
    private let digests: [[UInt8]]

    /// - Parameter keys: tokens, or public keys: one, or two while they are being changed. Only their
    ///   digests are kept.
    package init(
        name: String, trust: Event.Trust, keys: [String], environment: String, app: String?
    ) {
        self.name = name
        self.trust = trust
        self.environment = environment
        self.app = app
        digests = keys.map { SHA256.digest(Array($0.utf8)) }
    }

    /// Whether a key is one of this source's; how long that takes tells nothing of it.
    func knows(digest: [UInt8]) -> Bool {
        digests.reduce(false) { constantTimeEquals($1, digest) || $0 }
    }
}

extension [String: Source] {
    /// The source whose key this is, among those of one trust.
    func source(of key: String, trust: Event.Trust) -> Source? {
        let digest = SHA256.digest(Array(key.utf8))
        var found: Source?
        for (_, source) in self.sorted(by: { $0.key < $1.key })
        where source.trust == trust && source.knows(digest: digest) {
            found = found ?? source
        }
        return found
    }
}
