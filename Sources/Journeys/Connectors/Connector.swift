internal import Crypto
package import JSON
package import TimeZones

/// One configured use of a provider: who may send, and how bodies become events.
package struct Connector: Sendable {
    /// What a transfer between customers does.
    package enum Transfer: String, Sendable, Hashable, CaseIterable {
        /// The connector's subscriptions move to the receiver (S10).
        case move
        /// Both owners hear of it, and the subscriptions stay where they are.
        case keep
    }

    /// As in the path `/v1/webhooks/{connector}`: `[a-z0-9][a-z0-9_-]{0,62}`.
    package let name: String
    package let provider: ProviderDefinition
    /// Where this app keeps its own customer id in the body; wins over the provider's ids.
    package let identity: JSONPointer?
    /// The environment of events that name none, or one the definition does not know.
    package let unknownEnvironment: String
    /// Keys everything about a customer when set (S17).
    package let app: String?
    package let transfer: Transfer

    /// What `authenticate` lists, in its order.
    let schemes: [AuthenticationScheme]
    let checks: [SenderCheck]

    /// - Parameters:
    ///   - authentication: at least one entry; a delivery must satisfy **all** of them. Where a provider
    ///     sends both a static value and a signature, either alone would be weaker than what was set up.
    ///     Two live secrets stand in one entry.
    ///   - unknownEnvironment: lower-case letters, digits, `-`, `_`.
    ///   - allowsUnauthenticated: whether the scheme `none` is taken: on a loopback listener, or where
    ///     the configuration says `"insecure": true`.
    /// - Throws: ``ConnectorError`` naming connector and scheme; the product must not start with it.
    package init(
        name: String, provider: ProviderDefinition, authentication: [Authentication],
        identity: JSONPointer? = nil, unknownEnvironment: String = "sandbox", app: String? = nil,
        transfer: Transfer = .move, allowsUnauthenticated: Bool = false
    ) throws(ConnectorError) {
        self.name = name
        self.provider = provider
        self.identity = identity
        self.unknownEnvironment = unknownEnvironment
        self.app = app
        self.transfer = transfer
        let entries = authentication
        func refuse(
            _ reason: ConnectorError.Reason, _ text: String, _ scheme: AuthenticationScheme? = nil
        ) -> ConnectorError {
            ConnectorError(connector: name, scheme: scheme, reason: reason, explanation: text)
        }
        guard isPlainName(name, alsoUnderscore: true) else {
            throw refuse(
                .malformedName, "the name must be lower-case letters, digits, - and _, 63 at most")
        }
        guard isPlainName(unknownEnvironment, alsoUnderscore: true) else {
            throw refuse(
                .malformedEnvironment,
                "unknown_environment must be lower-case letters, digits, "
                    + "- and _, 63 at most")
        }
        guard !entries.isEmpty else {
            throw refuse(
                .noAuthentication,
                "no authentication is configured, so nothing could be believed; "
                    + "list a scheme, usually \(provider.usualScheme.rawValue)")
        }
        var checks: [SenderCheck] = []
        for (index, entry) in entries.enumerated() {
            if entries[..<index].contains(where: { $0.scheme.sharesHeader(with: entry.scheme) }) {
                throw refuse(
                    .schemesCollide,
                    "an entry above reads the same header, and all entries must "
                        + "hold; put both secrets of a rotation into one entry", entry.scheme)
            }
            if entry.scheme == .none {
                guard allowsUnauthenticated, entries.count == 1 else {
                    throw refuse(
                        .unauthenticatedListener,
                        "needs a loopback listener or \"insecure\": true, "
                            + "and no other scheme beside it", entry.scheme)
                }
            } else if !provider.schemes.contains(entry.scheme) {
                let offered = provider.schemes.map(\.rawValue).joined(separator: ", ")
                throw refuse(
                    .schemeNotOffered, "\(provider.title) sends none such; use \(offered)",
                    entry.scheme)
            }
            checks.append(try entry.prepared(connector: name))
        }
        self.checks = checks
        schemes = entries.map(\.scheme)
    }

    /// The key sets that must be fetched before this connector can judge anything.
    package var publishedKeys: [PublishedKeys] {
        checks.compactMap { if case .push(let push) = $0 { push.sender.keys } else { nil } }
    }

    /// Whether a delivery is the provider's, decided on the raw bytes before anything reads them.
    ///
    /// - Parameters:
    ///   - headers: as received, names in any case; a header a scheme reads must stand once.
    ///   - now: only the time in a signature's header is compared with it, never the event's.
    package func authenticate(
        headers: [(name: String, value: String)], body: [UInt8], now: Instant
    ) -> AuthenticationOutcome {
        let fields = HeaderFields(fields: headers)
        do throws(AuthenticationRefusal) {
            for check in checks {
                try check.check(headers: fields, body: body, now: now, definition: provider)
            }
            return .accepted
        } catch {
            return .refused(error)
        }
    }
}
