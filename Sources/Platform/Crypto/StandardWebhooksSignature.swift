/// The symmetric signature of the Standard Webhooks specification: `v1`, HMAC-SHA256.
package enum StandardWebhooksSignature {
    /// The value of the `webhook-signature` header, `v1,` and standard base64.
    ///
    /// - Parameters:
    ///   - id: the value of `webhook-id`; must hold no `.`, which separates the signed parts.
    ///   - timestampSeconds: the value of `webhook-timestamp`, seconds since 1970.
    ///   - body: exactly the bytes that are sent.
    ///   - key: the secret's bytes, as ``key(fromSecret:)`` reads them.
    package static func sign(
        id: String, timestampSeconds: Int64, body: [UInt8], key: [UInt8]
    ) -> String {
        sign(id: id, timestampSeconds: timestampSeconds, body: body, key: HMACSHA256(key: key))
    }

    /// As above, under a key that is kept.
    package static func sign(
        id: String, timestampSeconds: Int64, body: [UInt8], key: HMACSHA256
    ) -> String {
        precondition(!id.utf8.contains(UInt8(ascii: ".")), "a webhook id must hold no full stop")
        let head = [UInt8]("\(id).\(timestampSeconds).".utf8)
        return "v1," + Base64.encode(key.authenticate(parts: [head, body]))
    }

    /// The bytes of a secret written `whsec_` and standard base64, the prefix being optional.
    ///
    /// - Returns: nil when the rest is empty or not strict base64.
    package static func key(fromSecret secret: String) -> [UInt8]? {
        let prefix = "whsec_"
        let encoded = secret.hasPrefix(prefix) ? String(secret.dropFirst(prefix.count)) : secret
        guard let key = Base64.decode(encoded), !key.isEmpty else { return nil }
        return key
    }
}
