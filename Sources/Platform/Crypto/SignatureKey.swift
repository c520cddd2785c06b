internal import COpenSSL
package import JSON

/// A public key for one of the two algorithms in use for signed webhooks and tokens.
package struct SignatureKey: Hashable, Sendable {
    /// The names of RFC 7518.
    package enum Algorithm: String, Sendable, Hashable, CaseIterable {
        /// ECDSA on P-256 with SHA-256; signatures are 64 bytes.
        case es256 = "ES256"
        /// RSASSA-PKCS1-v1_5 with SHA-256.
        case rs256 = "RS256"
    }

    /// The only algorithm under which this key verifies anything.
    package let algorithm: Algorithm
    /// The key as DER `SubjectPublicKeyInfo`; OpenSSL reads it again for each check, which costs less
    /// than a tenth of the check and leaves nothing to share or to free.
    private let encoded: [UInt8]

    /// A key in DER `SubjectPublicKeyInfo`; nil unless it is a point of P-256 or an RSA key of 2048 to
    /// 8192 bits.
    package init?(subjectPublicKeyInfo der: [UInt8]) {
        guard let algorithm = Self.read(der, { Self.algorithm(of: $0) }) ?? nil else { return nil }
        self.algorithm = algorithm
        encoded = der
    }

    /// A JSON Web Key (RFC 7517) of type `EC` with curve `P-256`, or `RSA`; nil for any other, and for one
    /// that says it is meant for something else than signatures.
    package init?(jwk: JSONValue) {
        if let use = jwk["use"]?.string, use != "sig" { return nil }
        func part(_ name: String) -> [UInt8]? {
            guard let text = jwk[name]?.string, text.utf8.count <= 2_048 else { return nil }
            return Base64.decode(text, alphabet: .urlSafe)
        }
        switch jwk["kty"]?.string {
        case "EC":
            guard jwk["crv"]?.string == "P-256", let x = part("x"), let y = part("y"),
                x.count == 32, y.count == 32
            else { return nil }
            self.init(subjectPublicKeyInfo: DER.p256Prefix + [4] + x + y)
        case "RSA":
            // A long exponent costs much and says nothing: no signer uses one past 32 bits.
            guard let modulus = part("n"), let exponent = part("e"), exponent.count <= 4,
                exponent.last.map({ $0 & 1 == 1 && (exponent.count > 1 || $0 > 1) }) == true
            else { return nil }
            self.init(subjectPublicKeyInfo: DER.rsaKey(modulus: modulus, exponent: exponent))
        case _: return nil
        }
        if let named = jwk["alg"]?.string, named != algorithm.rawValue { return nil }
    }

    /// Whether `signature`, in the form JOSE gives it, is this key's over exactly `message`.
    package func isValid(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        let der: [UInt8]
        switch algorithm {
        case .rs256: der = signature
        case .es256:
            guard signature.count == 64 else { return false }
            der = DER.sequence(
                DER.integer(signature[..<32]) + DER.integer(signature[32...]))
        }
        return Self.read(encoded) { key in
            guard let context = EVP_MD_CTX_new() else {
                preconditionFailure("no memory for a signature check")
            }
            defer { EVP_MD_CTX_free(context) }
            guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1 else {
                return false
            }
            return EVP_DigestVerify(context, der, der.count, message, message.count) == 1
        } ?? false
    }

    private static func algorithm(of key: OpaquePointer) -> Algorithm? {
        switch EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_RSA: return (2_048...8_192).contains(EVP_PKEY_get_bits(key)) ? .rs256 : nil
        case EVP_PKEY_EC:
            var name = [CChar](repeating: 0, count: 64)
            var length = 0
            guard EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1 else { return nil }
            let curve = name.prefix(length).map(UInt8.init(bitPattern:))
            return String(decoding: curve, as: UTF8.self) == SN_X9_62_prime256v1 ? .es256 : nil
        case _: return nil
        }
    }

    /// Calls `body` with the key; nil when the bytes are none, or are followed by others.
    private static func read<Value>(_ der: [UInt8], _ body: (OpaquePointer) -> Value) -> Value? {
        // The thread's error queue is shared with TLS, which takes a leftover for its own failure.
        defer { ERR_clear_error() }
        guard der.count <= 4_096 else { return nil }
        return der.withUnsafeBufferPointer { bytes -> Value? in
            guard let start = bytes.baseAddress else { return nil }
            var position: UnsafePointer<UInt8>? = start
            guard let key = d2i_PUBKEY(nil, &position, bytes.count) else { return nil }
            defer { EVP_PKEY_free(key) }
            return position == start + bytes.count ? body(key) : nil
        }
    }
}

/// The few forms of X.690 that keys and signatures are put into.
private enum DER {
    /// `SubjectPublicKeyInfo` of a P-256 key, up to the bytes of the point.
    static let p256Prefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08,
        0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]

    private static let rsaAlgorithm: [UInt8] = [
        0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00,
    ]

    static func rsaKey(modulus: [UInt8], exponent: [UInt8]) -> [UInt8] {
        let key = sequence(integer(modulus[...]) + integer(exponent[...]))
        return sequence(rsaAlgorithm + tagged(0x03, [0] + key))
    }

    static func sequence(_ content: [UInt8]) -> [UInt8] { tagged(0x30, content) }

    /// A number that is not negative, without zeros that say nothing.
    static func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var digits = Array(bytes.drop { $0 == 0 })
        if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
        return tagged(0x02, digits)
    }

    private static func tagged(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        switch content.count {
        case ..<0x80: [tag, UInt8(content.count)] + content
        case ..<0x100: [tag, 0x81, UInt8(content.count)] + content
        case _:
            [tag, 0x82, UInt8(content.count >> 8 & 0xff), UInt8(content.count & 0xff)] + content
        }
    }
}
