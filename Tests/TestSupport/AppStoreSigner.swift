internal import COpenSSL
internal import Crypto
package import JSON

/// Signs transactions as the App Store does, under a root of its own that is made anew each time: no key
/// is kept anywhere. Shared, since making keys takes time and tests only read it.
package final class AppStoreSigner: @unchecked Sendable {
    /// One for the whole test process.
    package static let shared = AppStoreSigner()

    /// The root certificate in DER, to be trusted in place of Apple's.
    package let root: [UInt8]
    private let chain: [[UInt8]]
    private let key: OpaquePointer

    /// A chain with Apple's marks: root, intermediate, leaf.
    package init() {
        let rootKey = Self.makeKey()
        let intermediateKey = Self.makeKey()
        key = Self.makeKey()
        let root = Self.makeCertificate("Test Root", rootKey, by: nil, rootKey, isAuthority: true)
        let intermediate = Self.makeCertificate(
            "Test Intermediate", intermediateKey, by: root, rootKey, isAuthority: true,
            mark: "1.2.840.113635.100.6.2.1")
        let leaf = Self.makeCertificate(
            "Test Leaf", key, by: intermediate, intermediateKey, isAuthority: false,
            mark: "1.2.840.113635.100.6.11.1")
        self.root = Self.der(root)
        chain = [leaf, intermediate, root].map(Self.der)
        for certificate in [leaf, intermediate, root] { X509_free(certificate) }
        EVP_PKEY_free(rootKey)
        EVP_PKEY_free(intermediateKey)
    }

    deinit { EVP_PKEY_free(key) }

    /// A compact JWS over any payload.
    package func sign(_ payload: JSONValue) -> String {
        let header: JSONValue = [
            "alg": "ES256", "x5c": .array(chain.map { .string(Base64.encode($0)) }),
        ]
        let text = [header, payload]
            .map { Base64.encode($0.bytes, alphabet: .urlSafe) }.joined(separator: ".")
        return text + "." + Base64.encode(signature(of: Array(text.utf8)), alphabet: .urlSafe)
    }

    /// A transaction of the app `com.example`.
    ///
    /// - Parameters:
    ///   - milliseconds: when it was bought and, unless `changes` say otherwise, signed.
    ///   - changes: members to set, or with null to leave out.
    package func transaction(
        _ id: String, product: String, environment: String = "Production",
        at milliseconds: Int64, expires: Int64? = nil, changes: JSONObject = JSONObject()
    ) -> String {
        var json = JSONObject([
            ("transactionId", .string(id)), ("originalTransactionId", .string(id)),
            ("bundleId", "com.example"), ("productId", .string(product)), ("quantity", 1),
            ("purchaseDate", .integer(milliseconds)), ("signedDate", .integer(milliseconds)),
            ("inAppOwnershipType", "PURCHASED"), ("environment", .string(environment)),
        ])
        if let expires { json["expiresDate"] = .integer(expires) }
        for (name, value) in changes { json[name] = value.isNull ? nil : value }
        return sign(.object(json))
    }

    // MARK: OpenSSL

    private static func makeKey() -> OpaquePointer {
        let context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil)
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1,
            EVP_PKEY_keygen(context, &key) == 1, let key
        else { preconditionFailure("OpenSSL makes no key") }
        return key
    }

    private static func makeCertificate(
        _ name: String, _ key: OpaquePointer, by issuer: OpaquePointer?,
        _ issuerKey: OpaquePointer, isAuthority: Bool, mark: String? = nil
    ) -> OpaquePointer {
        guard let certificate = X509_new() else { preconditionFailure("no memory") }
        X509_set_version(certificate, 2)
        ASN1_INTEGER_set(X509_get_serialNumber(certificate), Int(name.utf8.count))
        // 2020 to 2049.
        ASN1_TIME_set(X509_getm_notBefore(certificate), 1_577_836_800)
        ASN1_TIME_set(X509_getm_notAfter(certificate), 2_493_072_000)
        X509_set_pubkey(certificate, key)
        X509_NAME_add_entry_by_txt(
            X509_get_subject_name(certificate), "CN", MBSTRING_ASC, Array(name.utf8),
            Int32(name.utf8.count), -1, 0)
        X509_set_issuer_name(certificate, X509_get_subject_name(issuer ?? certificate))
        let constraints = X509V3_EXT_nconf_nid(
            nil, nil, NID_basic_constraints, isAuthority ? "critical,CA:TRUE" : "CA:FALSE")
        X509_add_ext(certificate, constraints, -1)
        X509_EXTENSION_free(constraints)
        if let mark {
            let object = OBJ_txt2obj(mark, 1)
            let value = ASN1_OCTET_STRING_new()
            ASN1_OCTET_STRING_set(value, [5, 0], 2)
            let ext = X509_EXTENSION_create_by_OBJ(nil, object, 0, value)
            X509_add_ext(certificate, ext, -1)
            X509_EXTENSION_free(ext)
            ASN1_OCTET_STRING_free(value)
            ASN1_OBJECT_free(object)
        }
        precondition(X509_sign(certificate, issuerKey, EVP_sha256()) > 0, "not signed")
        return certificate
    }

    private static func der(_ certificate: OpaquePointer) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(i2d_X509(certificate, nil)))
        bytes.withUnsafeMutableBufferPointer { buffer in
            var place = buffer.baseAddress
            _ = i2d_X509(certificate, &place)
        }
        return bytes
    }

    /// The two numbers of an ECDSA signature, 32 bytes each.
    private func signature(of message: [UInt8]) -> [UInt8] {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var length = 0
        guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
            EVP_DigestSign(context, nil, &length, message, message.count) == 1
        else { preconditionFailure("OpenSSL does not sign") }
        var der = [UInt8](repeating: 0, count: length)
        precondition(EVP_DigestSign(context, &der, &length, message, message.count) == 1)
        let parsed = der.withUnsafeBufferPointer { buffer in
            var place = buffer.baseAddress
            return d2i_ECDSA_SIG(nil, &place, length)
        }
        defer { ECDSA_SIG_free(parsed) }
        var raw = [UInt8](repeating: 0, count: 64)
        raw.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return }
            BN_bn2binpad(ECDSA_SIG_get0_r(parsed), start, 32)
            BN_bn2binpad(ECDSA_SIG_get0_s(parsed), start + 32, 32)
        }
        return raw
    }
}
