internal import COpenSSL

/// An Ed25519 public key (RFC 8032), with which signatures are checked.
package struct Ed25519PublicKey: Hashable, Sendable {
    /// The key's 32 bytes.
    package let rawBytes: [UInt8]

    /// Nil unless there are 32 bytes. Bytes that are no point of the curve make a key nothing verifies under.
    package init?(rawBytes: [UInt8]) {
        guard rawBytes.count == 32 else { return nil }
        self.rawBytes = rawBytes
    }

    /// Whether `signature`, 64 bytes, is this key's over exactly `message`.
    package func isValid(signature: [UInt8], message: [UInt8]) -> Bool {
        guard signature.count == 64 else { return false }
        // The thread's error queue is shared with TLS, which takes a leftover for its own failure.
        defer { ERR_clear_error() }
        let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, rawBytes, rawBytes.count)
        defer { EVP_PKEY_free(key) }
        guard let key else { return false }
        guard let context = EVP_MD_CTX_new() else {
            preconditionFailure("no memory for a signature check")
        }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1 else { return false }
        return EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }
}
