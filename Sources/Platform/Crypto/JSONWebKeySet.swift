package import JSON

/// Public keys by their ids, as an issuer publishes them (RFC 7517).
package struct JSONWebKeySet: Sendable, Hashable {
    private let keys: [String: SignatureKey]

    /// More than an issuer ever has in use at once.
    private static let mostKeys = 64

    /// Reads `{"keys": […]}`. Keys of other types or uses, and keys without an id, are passed over.
    ///
    /// - Returns: nil when it is no such object, holds more than 64 keys or none that can be used: such an
    ///   answer must never take the place of a set that works.
    package init?(_ value: JSONValue) {
        guard let list = value["keys"]?.array, list.count <= Self.mostKeys else { return nil }
        var keys: [String: SignatureKey] = [:]
        for item in list {
            guard let id = item["kid"]?.string, !id.isEmpty, let key = SignatureKey(jwk: item)
            else { continue }
            keys[id] = key
        }
        guard !keys.isEmpty else { return nil }
        self.keys = keys
    }

    /// As ``init(_:)``, from the bytes of an answer.
    package init?(parsing bytes: [UInt8]) {
        guard let value = try? JSONParser.parse(bytes) else { return nil }
        self.init(value)
    }

    /// Whether a key of this id is there.
    package func holds(keyID: String) -> Bool { keys[keyID] != nil }

    /// Whether a key of the set signed the text, and what it says. Claims are the caller's to judge.
    package func verdict(on jws: CompactJWS) -> JWSVerdict {
        guard SignatureKey.Algorithm(rawValue: jws.algorithm) != nil else {
            return .refused(.algorithm)
        }
        guard let key = jws.keyID.flatMap({ keys[$0] }) else { return .refused(.unknownKey) }
        guard key.algorithm.rawValue == jws.algorithm else { return .refused(.algorithm) }
        guard jws.isSigned(by: key) else { return .refused(.signature) }
        do throws(JWSRefusal) {
            return .verified(try jws.payloadObject())
        } catch {
            return .refused(error)
        }
    }
}
