internal import COpenSSL
internal import Glibc

/// Where a listener's certificate comes from.
package struct HTTPTLS: Sendable, Hashable {
    /// A PEM file: the server's certificate first, then the intermediate ones.
    package var certificateFile: String
    /// A PEM file with the private key, without a passphrase.
    package var keyFile: String

    /// Names the files; they are read when the listener starts.
    package init(certificateFile: String, keyFile: String) {
        self.certificateFile = certificateFile
        self.keyFile = keyFile
    }
}

/// OpenSSL's settings for all connections of a listener: TLS 1.2 or newer, ALPN "http/1.1".
///
/// Sessions hold a reference of their own, so a replaced context serves its connections to their end.
final class TLSContext: @unchecked Sendable {
    private let context: OpaquePointer

    // Macros with parameters are not imported: SSL_OP_BIT(7) and SSL_OP_BIT(30) of ssl.h.
    private static let ignoreUnexpectedEnd: UInt64 = 1 << 7
    private static let noRenegotiation: UInt64 = 1 << 30

    init(_ files: HTTPTLS) throws(HTTPServerError) {
        ERR_clear_error()
        guard let context = SSL_CTX_new(TLS_server_method()) else {
            throw .cannotUseTLS(file: files.certificateFile, reason: Self.lastError())
        }
        self.context = context
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        let mode =
            SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
            | SSL_MODE_RELEASE_BUFFERS
        SSL_CTX_ctrl(context, SSL_CTRL_MODE, Int(mode), nil)
        SSL_CTX_set_options(context, Self.ignoreUnexpectedEnd | Self.noRenegotiation)
        // Without this OpenSSL would ask the terminal for the passphrase of an encrypted key.
        SSL_CTX_set_default_passwd_cb(context) { _, _, _, _ in 0 }
        SSL_CTX_set_alpn_select_cb(context, chooseProtocol, nil)
        guard SSL_CTX_use_certificate_chain_file(context, files.certificateFile) == 1 else {
            throw .cannotUseTLS(file: files.certificateFile, reason: Self.lastError())
        }
        guard SSL_CTX_use_PrivateKey_file(context, files.keyFile, SSL_FILETYPE_PEM) == 1,
            SSL_CTX_check_private_key(context) == 1
        else { throw .cannotUseTLS(file: files.keyFile, reason: Self.lastError()) }
        // OpenSSL writes with plain write(2): a client that went away must not end the process.
        signal(SIGPIPE, SIG_IGN)
    }

    deinit { SSL_CTX_free(context) }

    func makeSession(descriptor: Int32) -> OpaquePointer? {
        guard let session = SSL_new(context) else { return nil }
        SSL_set_fd(session, descriptor)
        SSL_set_accept_state(session)
        return session
    }

    private static func lastError() -> String {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0, let reason = ERR_reason_error_string(code) else { return "unknown reason" }
        return String(cString: reason)
    }
}

/// Picks "http/1.1" from what the client offers (length-prefixed names), and refuses the handshake of
/// a client that offers only others: it would speak them.
private func chooseProtocol(
    _: OpaquePointer?, out: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    outCount: UnsafeMutablePointer<UInt8>?, offered: UnsafePointer<UInt8>?, count: UInt32,
    _: UnsafeMutableRawPointer?
) -> Int32 {
    let names = UnsafeBufferPointer(start: offered, count: Int(count))
    var index = 0
    while index < names.count {
        let length = Int(names[index])
        let name = names[(index + 1)...].prefix(length)
        if name.elementsEqual("http/1.1".utf8) {
            out?.pointee = offered.map { $0 + index + 1 }
            outCount?.pointee = UInt8(length)
            return SSL_TLSEXT_ERR_OK
        }
        index += 1 + length
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
}
