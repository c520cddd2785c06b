internal import Crypto

extension Authentication {
    /// The check that this entry stands for.
    ///
    /// - Throws: ``ConnectorError`` for a secret that is missing, malformed or too short, and for a
    ///   tolerance out of range.
    func prepared(connector: String) throws(ConnectorError) -> SenderCheck {
        let refuse = Refusal(connector: connector, scheme: scheme)
        if scheme == .none { return .unchecked }
        guard tolerance >= .seconds(1), tolerance <= .seconds(86_400) else {
            throw refuse(.toleranceOutOfRange, "the tolerance must lie between PT1S and PT24H")
        }
        if !scheme.hasSecrets { return try preparedWithoutSecret(refuse) }
        if secrets.isEmpty { throw refuse(.missingSecret, "no secret is configured; set one") }
        guard secrets.count <= 2 else {
            throw refuse(
                .tooManySecrets,
                "\(secrets.count) secrets are configured; keep two at most, "
                    + "the new one and the one being retired")
        }
        for secret in secrets { try requireText(secret, refuse) }
        switch scheme {
        case .authorization: return .authorization(digests: try digests(refuse))
        case .bearer: return .bearer(digests: try digests(refuse))
        case .basic:
            for secret in secrets { try requirePair(secret, refuse) }
            return .basic(digests: try digests(refuse))
        case .revenueCatHMAC: return .timestamped(try timestamped(.revenueCat, refuse))
        case .stripe: return .timestamped(try timestamped(.stripe, refuse))
        case .paddle: return .timestamped(try timestamped(.paddle, refuse))
        case .lemonSqueezy:
            return .whole(
                WholeSignature(form: .lemonSqueezy, keys: try keys(refuse), tolerance: nil))
        case .purchasely:
            return .whole(
                WholeSignature(form: .purchasely, keys: try keys(refuse), tolerance: tolerance))
        case .standardWebhooks: return .standardWebhooks(try standardWebhooks(refuse))
        case .appleJWS, .googleOIDC, .none: return .unchecked
        }
    }

    private func preparedWithoutSecret(_ refuse: Refusal) throws(ConnectorError) -> SenderCheck {
        guard secrets.isEmpty else {
            throw refuse(.tooManySecrets, "has no secret of its own; remove the one that is set")
        }
        if scheme == .appleJWS {
            guard let appleApp, !appleApp.bundleIDs.isEmpty else {
                throw refuse(
                    .missingSecret,
                    "no bundle_id is configured, so any app's notifications would be taken; "
                        + "set your app's")
            }
            guard !appleApp.environments.isEmpty else {
                throw refuse(.malformedEnvironment, "environments is empty; name Production")
            }
            return .apple(AppleCheck(app: appleApp))
        }
        guard let pushSender, !pushSender.audience.isEmpty, !pushSender.email.isEmpty else {
            throw refuse(
                .missingSecret,
                "needs \"audience\" and \"email\": any Google account can have a token signed "
                    + "for any audience; set both as in the push subscription")
        }
        return .push(PushCheck(sender: pushSender, leeway: tolerance))
    }

    /// Keys that are the secrets' texts as they stand.
    private func keys(_ refuse: Refusal) throws(ConnectorError) -> [HMACSHA256] {
        for secret in secrets { try requireLength(secret.value.utf8.count, secret, refuse) }
        return secrets.map { HMACSHA256(key: Array($0.value.utf8)) }
    }

    private func timestamped(
        _ form: TimestampedSignature.Form, _ refuse: Refusal
    ) throws(ConnectorError) -> TimestampedSignature {
        TimestampedSignature(form: form, keys: try keys(refuse), tolerance: tolerance)
    }

    private struct Refusal {
        let connector: String
        let scheme: AuthenticationScheme

        func callAsFunction(_ reason: ConnectorError.Reason, _ text: String) -> ConnectorError {
            ConnectorError(
                connector: connector, scheme: scheme, reason: reason, explanation: text)
        }
    }

    /// Header values carry neither control characters nor blanks at their ends, so such a secret could
    /// never match: most often a line break came along with a file.
    private func requireText(_ secret: SharedSecret, _ refuse: Refusal) throws(ConnectorError) {
        let bytes = secret.value.utf8
        guard let first = bytes.first, let last = bytes.last else {
            throw refuse(.missingSecret, "the \(secret) is empty; set it")
        }
        let holdsControls = bytes.contains { $0 < 0x20 || $0 == 0x7f }
        guard !holdsControls, first != 0x20, last != 0x20 else {
            throw refuse(
                .malformedSecret,
                "the \(secret) holds a control character, or a blank at an end; "
                    + "remove it")
        }
    }

    private func requireLength(
        _ count: Int, _ secret: SharedSecret, _ refuse: Refusal
    ) throws(ConnectorError) {
        guard count >= scheme.leastSecretBytes else {
            throw refuse(
                .secretTooShort,
                "the \(secret) has \(count) bytes; "
                    + "use one of \(scheme.leastSecretBytes) or more")
        }
    }

    private func requirePair(_ secret: SharedSecret, _ refuse: Refusal) throws(ConnectorError) {
        let text = secret.value.utf8
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")), colon != text.startIndex,
            text.index(after: colon) != text.endIndex
        else {
            throw refuse(.malformedSecret, "the \(secret) must read user:password")
        }
    }

    private func digests(_ refuse: Refusal) throws(ConnectorError) -> [[UInt8]] {
        var digests: [[UInt8]] = []
        for secret in secrets {
            try requireLength(secret.value.utf8.count, secret, refuse)
            digests.append(SHA256.digest(Array(secret.value.utf8)))
        }
        return digests
    }

    private func standardWebhooks(_ refuse: Refusal) throws(ConnectorError) -> StandardWebhooks {
        var keys: [HMACSHA256] = []
        var publicKeys: [Ed25519PublicKey] = []
        for secret in secrets {
            if secret.value.hasPrefix("whpk_") {
                guard let bytes = Base64.decode(String(secret.value.dropFirst(5))),
                    let key = Ed25519PublicKey(rawBytes: bytes)
                else {
                    throw refuse(
                        .malformedSecret,
                        "the \(secret) must hold base64 of 32 bytes after whpk_; copy it again")
                }
                publicKeys.append(key)
                continue
            }
            if secret.value.contains(",") {
                throw refuse(
                    .malformedSecret,
                    "the \(secret) holds a comma, as a signature does; "
                        + "give the signing secret alone, whsec_…")
            }
            if secret.value.hasPrefix("whsk_") {
                throw refuse(
                    .malformedSecret,
                    "the \(secret) is the sender's private key; "
                        + "give the public one, whpk_…")
            }
            guard let key = StandardWebhooksSignature.key(fromSecret: secret.value) else {
                throw refuse(
                    .malformedSecret, "the \(secret) is not whsec_ and strict base64; copy it again"
                )
            }
            try requireLength(key.count, secret, refuse)
            keys.append(HMACSHA256(key: key))
        }
        return StandardWebhooks(
            symmetricKeys: keys, publicKeys: publicKeys, tolerance: tolerance)
    }
}
