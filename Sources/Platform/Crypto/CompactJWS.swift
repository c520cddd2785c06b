package import JSON

/// A JSON Web Signature in compact form (RFC 7515), taken apart and not yet believed.
package struct CompactJWS: Sendable, Hashable {
    /// The header's `alg`; whoever checks the signature decides which ones are taken.
    package let algorithm: String
    /// The protected header.
    package let header: JSONObject
    /// The signed bytes, decoded.
    package let payload: [UInt8]
    /// Header, full stop and payload as they were sent: what the signature covers.
    let signedText: [UInt8]
    let signature: [UInt8]

    /// A header holds a chain of certificates at most; anything longer is an attack on the reader.
    private static let longestHeader = 65_536
    /// Longer than any signature of an algorithm that is taken (RSA with 8192 bits).
    private static let longestSignature = 2_048

    /// Takes three parts of unpadded base64url apart.
    ///
    /// The header must be one JSON object without doubled keys and with a textual `alg`. A header that
    /// names critical extensions (`crit`, `b64` among them) is refused, since none is understood.
    ///
    /// - Throws: ``JWSRefusal/malformed``.
    package init(parsing text: [UInt8]) throws(JWSRefusal) {
        let parts = text.split(
            separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].count <= Self.longestHeader,
            parts[2].count <= Self.longestSignature,
            let head = Base64.decode(Array(parts[0]), alphabet: .urlSafe),
            let payload = Base64.decode(Array(parts[1]), alphabet: .urlSafe),
            let signature = Base64.decode(Array(parts[2]), alphabet: .urlSafe),
            let header = (try? JSONParser.parse(head))?.object,
            let algorithm = header["alg"]?.string, header["crit"] == nil, header["b64"] == nil
        else { throw .malformed }
        self.algorithm = algorithm
        self.header = header
        self.payload = payload
        self.signature = signature
        signedText = Array(parts[0]) + [UInt8(ascii: ".")] + Array(parts[1])
    }

    /// As ``init(parsing:)-([UInt8])``.
    package init(parsing text: String) throws(JWSRefusal) {
        try self.init(parsing: Array(text.utf8))
    }

    /// Which key of a set signed it, as the header says.
    package var keyID: String? { header["kid"]?.string }

    /// The payload as JSON, read as leniently as a webhook's body.
    ///
    /// - Throws: ``JWSRefusal/payload`` for anything but one JSON object.
    package func payloadObject() throws(JWSRefusal) -> JSONValue {
        guard let value = try? JSONParser.parse(payload, options: .webhook), value.object != nil
        else { throw .payload }
        return value
    }

    /// Whether the key signed it, by the algorithm that the key is for and the header names.
    package func isSigned(by key: SignatureKey) -> Bool {
        key.algorithm.rawValue == algorithm && key.isValid(signature, of: signedText)
    }
}

/// What became of a signed text.
package enum JWSVerdict: Sendable, Hashable {
    /// The signature holds; the payload is the signer's word.
    case verified(JSONValue)
    case refused(JWSRefusal)
}

/// Why a signed text is not believed. Holds nothing of the text, so it can be logged.
package enum JWSRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// Not three parts of base64url, or a header that is none.
    case malformed
    /// Signed by another algorithm than the one asked for; `none` is always another one.
    case algorithm
    /// The header names no key of the set.
    case unknownKey
    /// The certificates beside it do not lead to a trusted root.
    case chain(ChainRefusal)
    /// The signature is not the key's over these bytes.
    case signature
    /// What was signed is no JSON object.
    case payload

    package var description: String {
        switch self {
        case .malformed: "the signed text is no compact JSON Web Signature"
        case .algorithm: "the signed text is signed by another algorithm than the one expected"
        case .unknownKey: "the signed text names no key of the key set"
        case .chain(let refusal): "the signer's certificates are refused: \(refusal)"
        case .signature: "the signature does not belong to the signed text"
        case .payload: "the signed text holds no JSON object"
        }
    }
}
