internal import CLinux
internal import COpenSSL
internal import Glibc

/// A connected, non-blocking socket, plain or under TLS. Loop thread only.
final class HTTPTransport {
    /// What became of an attempt to move bytes.
    enum Outcome {
        case moved(Int)
        case wouldBlock
        /// The peer will send no more.
        case ended
        case failed
    }

    let descriptor: Int32
    private let session: OpaquePointer?
    /// After a fatal error OpenSSL forbids any further call, `SSL_shutdown` included.
    private var isBroken = false
    /// TLS may have to write before it can read.
    private(set) var wantsToWrite = false

    init?(descriptor: Int32, tls: TLSContext?) {
        self.descriptor = descriptor
        if let tls {
            guard let session = tls.makeSession(descriptor: descriptor) else { return nil }
            self.session = session
        } else {
            session = nil
        }
    }

    deinit { if let session { SSL_free(session) } }

    var isTLS: Bool { session != nil }

    /// Whether a TLS session failed, rather than its socket.
    var isTLSFailure: Bool { isBroken }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
        if let session {
            var count = 0
            ERR_clear_error()
            let status = SSL_read_ex(session, buffer.baseAddress, buffer.count, &count)
            return outcome(session, status, count)
        }
        while true {
            let count = Glibc.recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 { return .moved(count) }
            if count == 0 { return .ended }
            if errno != EINTR { return Self.blocked(errno) }
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        if let session {
            var count = 0
            ERR_clear_error()
            let status = SSL_write_ex(session, bytes.baseAddress, bytes.count, &count)
            return outcome(session, status, count)
        }
        while true {
            let count = Glibc.send(
                descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            if count >= 0 { return .moved(count) }
            if errno != EINTR { return Self.blocked(errno) }
        }
    }

    /// Says that nothing more will be sent; the client may still be read from.
    func finishWriting() {
        if let session, !isBroken, SSL_is_init_finished(session) == 1 {
            ERR_clear_error()
            SSL_shutdown(session)
        }
        shutdown(descriptor, Int32(SHUT_WR))
    }

    private static func blocked(_ error: Int32) -> Outcome {
        error == EAGAIN || error == EWOULDBLOCK ? .wouldBlock : .failed
    }

    /// What a call of OpenSSL that moved `count` bytes, or failed, means for the loop.
    private func outcome(_ session: OpaquePointer, _ status: Int32, _ count: Int) -> Outcome {
        wantsToWrite = false
        if status == 1 { return .moved(count) }
        switch SSL_get_error(session, status) {
        case SSL_ERROR_WANT_READ: return .wouldBlock
        case SSL_ERROR_WANT_WRITE:
            wantsToWrite = true
            return .wouldBlock
        case SSL_ERROR_ZERO_RETURN: return .ended
        default:
            isBroken = true
            return .failed
        }
    }
}
