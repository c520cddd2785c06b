internal import COpenSSL

/// HMAC-SHA256 (RFC 2104) under one key, whose schedule is computed once.
///
/// A copy shares the key. Any number of threads may use one value at a time: the keyed OpenSSL context
/// is a template that is only ever duplicated. The key cannot be read back.
package struct HMACSHA256: Sendable {
    /// The length of every code, in bytes.
    package static let byteCount = 32

    private let template: KeyedTemplate

    /// - Parameter key: of any length; an empty key is an ordinary, worthless key.
    package init(key: [UInt8]) {
        template = KeyedTemplate(key: key)
    }

    /// The 32-byte code of the parts, read as one message without anything between them.
    package func authenticate(parts: [[UInt8]]) -> [UInt8] {
        guard let context = EVP_MAC_CTX_dup(template.context) else {
            preconditionFailure("no memory for an HMAC")
        }
        defer { EVP_MAC_CTX_free(context) }
        for part in parts {
            let status = part.withUnsafeBufferPointer {
                EVP_MAC_update(context, $0.baseAddress, $0.count)
            }
            precondition(status == 1, "HMAC update failed")
        }
        var code = [UInt8](repeating: 0, count: Self.byteCount)
        var length = 0
        let status = EVP_MAC_final(context, &code, &length, code.count)
        precondition(status == 1 && length == code.count, "HMAC final failed")
        return code
    }

    /// The 32-byte code of one message.
    package func authenticate(_ message: [UInt8]) -> [UInt8] {
        authenticate(parts: [message])
    }

    /// The 32-byte code of one message under a key that is used once.
    package static func authenticate(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        HMACSHA256(key: key).authenticate(message)
    }

    /// Whether `code` is the whole code of the parts; compares in constant time.
    package func isValid(_ code: [UInt8], parts: [[UInt8]]) -> Bool {
        constantTimeEquals(code, authenticate(parts: parts))
    }
}

/// Owns the keyed context.
///
/// Unchecked, since the pointer is written in `init` and freed in `deinit` only, and OpenSSL duplicates
/// from a constant source.
private final class KeyedTemplate: @unchecked Sendable {
    let context: OpaquePointer

    init(key: [UInt8]) {
        let algorithm = EVP_MAC_fetch(nil, "HMAC", nil)
        defer { EVP_MAC_free(algorithm) }
        guard let algorithm, let context = EVP_MAC_CTX_new(algorithm) else {
            preconditionFailure("OpenSSL offers no HMAC; check the system's OpenSSL")
        }
        self.context = context
        // A null key would mean "keep the key there is".
        let keyOrFiller = key.isEmpty ? [0] : key
        var digest = Array("SHA256".utf8CString)
        let status = digest.withUnsafeMutableBufferPointer { digest in
            // The parameter keeps the pointer to its name. The macro is a Swift string here, whose C copy
            // passed as an argument dies with the call: both strings must outlive EVP_MAC_init.
            OSSL_MAC_PARAM_DIGEST.withCString { name in
                let parameters = [
                    OSSL_PARAM_construct_utf8_string(name, digest.baseAddress, 0),
                    OSSL_PARAM_construct_end(),
                ]
                return EVP_MAC_init(context, keyOrFiller, key.count, parameters)
            }
        }
        precondition(status == 1, "OpenSSL refused an HMAC-SHA256 key")
    }

    deinit { EVP_MAC_CTX_free(context) }
}
