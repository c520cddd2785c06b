internal import Configuration

/// Who may send the app's own events: one entry of `sources`.
package struct SourceSettings: Sendable, Hashable {
    /// How a source shows who it is.
    package enum Access: Sendable, Hashable {
        /// A back end's secret tokens: one, or two while they are being changed.
        case tokens([String])
        /// A key that stands in every copy of an app: what it sends is a client's word.
        case publicKey(String)
    }

    package var name: String
    package var access: Access
    /// The environment of what it sends.
    package var environment: String
    /// Keys everything about a customer when set (S17).
    package var app: String?

    /// Nil, with the problem said, for an entry that names nobody.
    init?(_ reader: ConfigurationReader, name: String) {
        self.name = name
        environment = reader.string("environment", default: "production")
        app = reader.string("app")
        let publicKey = reader.string("public_key")
        let token = reader.secret("token")
        let previous = reader.secret("previous_token")
        switch (token, publicKey) {
        case (let token?, nil):
            let tokens = [token, previous].compactMap { $0?.revealed }
            if let short = tokens.first(where: { $0.utf8.count < Self.shortestToken }) {
                reader.problem(
                    "token",
                    "A token has at least \(Self.shortestToken) bytes, so that nobody guesses it; this "
                        + "one has \(short.utf8.count).")
            }
            access = .tokens(tokens)
        case (nil, let key?):
            if key.utf8.count < 8 {
                reader.problem("public_key", "A public key has at least 8 bytes.")
            }
            access = .publicKey(key)
        case (.some, .some):
            reader.problem(
                "public_key", "A source has a token or a public key, not both; make two sources.")
            return nil
        case (nil, nil):
            reader.problem(
                "token", "A source needs a token (a back end) or a public_key (an app).")
            return nil
        }
    }

    private static let shortestToken = 16
}
