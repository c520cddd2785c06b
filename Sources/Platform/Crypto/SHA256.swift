internal import COpenSSL

/// SHA-256 (FIPS 180-4) of bytes that are already in memory; ``SHA256Hasher`` takes them in pieces.
package enum SHA256 {
    /// The length of every digest, in bytes.
    package static let byteCount = 32

    /// The 32 bytes of the digest.
    package static func digest(_ bytes: [UInt8]) -> [UInt8] {
        var hasher = SHA256Hasher()
        hasher.update(bytes)
        return hasher.finish()
    }

    /// The digest as 64 lowercase hexadecimal digits.
    package static func hex(_ bytes: [UInt8]) -> String {
        Hex.encode(digest(bytes))
    }

    /// The digest of the text's UTF-8 bytes as 64 lowercase hexadecimal digits.
    package static func hex(_ text: String) -> String {
        hex([UInt8](text.utf8))
    }
}

/// A SHA-256 digest in the making, for input that comes in pieces.
package struct SHA256Hasher: ~Copyable {
    private let context: OpaquePointer

    /// A digest of nothing yet.
    package init() {
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1
        else { preconditionFailure("OpenSSL offers no SHA-256; check the system's OpenSSL") }
        self.context = context
    }

    deinit { EVP_MD_CTX_free(context) }

    /// Adds bytes at the end.
    package mutating func update(_ bytes: [UInt8]) {
        let status = bytes.withUnsafeBytes { EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
        precondition(status == 1, "SHA-256 update failed")
    }

    /// Adds the text's UTF-8 bytes at the end.
    package mutating func update(_ text: String) {
        update([UInt8](text.utf8))
    }

    /// The 32 bytes of the digest of everything added.
    package consuming func finish() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: SHA256.byteCount)
        precondition(EVP_DigestFinal_ex(context, &digest, nil) == 1, "SHA-256 final failed")
        return digest
    }
}
