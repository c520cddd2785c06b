internal import COpenSSL

/// One X.509 certificate while it is looked at; holds OpenSSL's object and frees it.
final class Certificate {
    private let pointer: OpaquePointer

    /// Nil unless the bytes are one certificate in DER and nothing else, 16 KiB at most.
    init?(der: [UInt8]) {
        guard der.count <= 16_384 else { return nil }
        let read = der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            guard let start = bytes.baseAddress else { return nil }
            var position: UnsafePointer<UInt8>? = start
            guard let found = d2i_X509(nil, &position, bytes.count) else { return nil }
            if position == start + bytes.count { return found }
            X509_free(found)
            return nil
        }
        guard let read else { return nil }
        pointer = read
    }

    deinit { X509_free(pointer) }

    /// Whether `issuer` bears the name this certificate gives and made its signature, with a digest that
    /// still counts: SHA-256 and longer.
    func isIssued(by issuer: Certificate) -> Bool {
        guard
            X509_NAME_cmp(X509_get_issuer_name(pointer), X509_get_subject_name(issuer.pointer))
                == 0,
            Self.soundSignatures.contains(X509_get_signature_nid(pointer)),
            let key = X509_get0_pubkey(issuer.pointer)
        else { return false }
        return X509_verify(pointer, key) == 1
    }

    private static let soundSignatures: Set<Int32> = [
        NID_ecdsa_with_SHA256, NID_ecdsa_with_SHA384, NID_ecdsa_with_SHA512,
        NID_sha256WithRSAEncryption, NID_sha384WithRSAEncryption, NID_sha512WithRSAEncryption,
    ]

    /// Whether its basic constraints, and its key usage if it states one, let it issue certificates.
    var isAuthority: Bool { X509_check_ca(pointer) == 1 }

    /// Whether it has an extension of this object identifier, such as `1.2.840.113635.100.6.2.1`.
    func hasExtension(_ identifier: String) -> Bool {
        guard let object = OBJ_txt2obj(identifier, 1) else { return false }
        defer { ASN1_OBJECT_free(object) }
        return X509_get_ext_by_OBJ(pointer, object, -1) >= 0
    }

    /// From when to when it holds, in seconds since 1970; nil when it states no such times.
    var validity: ClosedRange<Int64>? {
        guard let start = Self.seconds(X509_get0_notBefore(pointer)),
            let end = Self.seconds(X509_get0_notAfter(pointer)), start <= end
        else { return nil }
        return start...end
    }

    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        guard let time, let epoch = ASN1_TIME_set(nil, 0) else { return nil }
        defer { ASN1_TIME_free(epoch) }
        var days: Int32 = 0
        var seconds: Int32 = 0
        guard ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else { return nil }
        return Int64(days) * 86_400 + Int64(seconds)
    }

    /// The key it certifies, if it is one that can check signatures.
    var key: SignatureKey? {
        guard let info = X509_get_X509_PUBKEY(pointer) else { return nil }
        let length = i2d_X509_PUBKEY(info, nil)
        guard length > 0 else { return nil }
        var der = [UInt8](repeating: 0, count: Int(length))
        let written = der.withUnsafeMutableBufferPointer { bytes in
            var position = bytes.baseAddress
            return i2d_X509_PUBKEY(info, &position)
        }
        return written == length ? SignatureKey(subjectPublicKeyInfo: der) : nil
    }
}
