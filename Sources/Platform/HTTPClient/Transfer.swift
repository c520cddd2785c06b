internal import CCurl
internal import CLinux
internal import Glibc
internal import Synchronization

/// One call on its way: what libcurl's callbacks gather, and who waits for it.
///
/// Unchecked: everything but ``isCancelled`` belongs to the loop's thread once the transfer is handed over.
final class Transfer: @unchecked Sendable {
    typealias Outcome = Result<HTTPAnswer, HTTPClientError>

    let request: CheckedRequest
    /// Set from any thread, before the loop is asked to abort.
    let isCancelled = Atomic(false)

    /// Whether a connection was ready and the request about to be written to it.
    private var wasIssued = false
    private var isTruncated = false

    private var waiter: CheckedContinuation<Outcome, Never>?
    private var started = ContinuousClock.now
    private var headers: [HTTPHeaderField] = []
    private var headBytes = 0
    private var isHeadTooLong = false
    private var isHeadComplete = false
    private var isInBody = false
    private var body: [UInt8] = []
    private var refusal: String?
    private var hasOpenedSocket = false
    var headerList: UnsafeMutablePointer<curl_slist>?
    /// libcurl writes its message here.
    let message = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

    private static let maximumHead = 65_536

    init(_ request: CheckedRequest) {
        self.request = request
        message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        curl_slist_free_all(headerList)
        message.deallocate()
    }

    func begin(_ waiter: CheckedContinuation<Outcome, Never>) {
        self.waiter = waiter
        started = .now
    }

    /// Ends the wait; only the first call counts.
    func end(_ outcome: Outcome) {
        waiter?.resume(returning: outcome)
        waiter = nil
    }

    func end(_ kind: HTTPClientError.Kind, detail: String = "") {
        end(
            .failure(
                HTTPClientError(
                    kind: kind, requestMayHaveBeenSent: wasIssued, host: request.url.host,
                    detail: detail)))
    }

    // MARK: What libcurl calls

    /// The socket for a resolved address, or -1 where the policy refuses the address.
    func open(_ address: UnsafeMutablePointer<curl_sockaddr>) -> Int32 {
        let peer = UnsafeRawPointer(address) + Self.addressOffset
        guard let known = NetworkAddress(peer) else {
            refusal = "the address is neither IPv4 nor IPv6"
            return -1
        }
        if !request.call.destination.allowsPrivate, let privacy = known.privacy {
            refusal = "\(known) is \(privacy)"
            return -1
        }
        hasOpenedSocket = true
        let kind = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
        return socket(address.pointee.family, kind, address.pointee.protocol)
    }

    private static let addressOffset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 0

    /// False forbids the request: libcurl sends again by itself when a kept connection turns out dead,
    /// and the first copy may have had its effect.
    func issue() -> Bool {
        defer { wasIssued = true }
        return !wasIssued
    }

    /// How many bytes were taken; less than given aborts the transfer.
    func receiveHead(_ line: UnsafeRawBufferPointer) -> Int {
        if isInBody { return line.count }  // trailer fields
        headBytes += line.count
        guard headBytes <= Self.maximumHead else {
            isHeadTooLong = true
            return 0
        }
        let text = String(decoding: line, as: UTF8.self)
        if text.hasPrefix("HTTP/") {
            headers.removeAll()  // those of an interim answer
            isHeadComplete = false
        } else if text.allSatisfy(\.isNewline) {
            isHeadComplete = true
        } else if let colon = text.firstIndex(of: ":") {
            headers.append(
                HTTPHeaderField(
                    name: String(text[..<colon]),
                    value: Self.trimmed(text[text.index(after: colon)...])))
        }
        return line.count
    }

    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        isInBody = true
        let room = request.call.maximumResponse - body.count
        body.append(contentsOf: bytes.prefix(room))
        if bytes.count <= room { return bytes.count }
        isTruncated = true
        return 0
    }

    private static func trimmed(_ text: Substring) -> String {
        var rest = text.drop(while: \.isWhitespace)
        while let last = rest.last, last.isWhitespace { rest.removeLast() }
        return String(rest)
    }

    // MARK: The end

    /// Ends the wait with what libcurl says about the transfer.
    func finish(_ code: CURLcode, status: Int) {
        if code == CURLE_OK && !isHeadComplete {
            // libcurl takes a head cut short by the end of the connection for a whole one.
            end(.brokenConnection, detail: "the head of the answer is incomplete")
            return
        }
        if code == CURLE_OK || (code == CURLE_WRITE_ERROR && isTruncated) {
            let answer = HTTPAnswer(
                status: status, headers: headers, body: body, isTruncated: isTruncated,
                duration: .now - started)
            end(.success(answer))
            return
        }
        let text = String(cString: message)
        let reason = text.isEmpty ? String(cString: curl_easy_strerror(code)) : text
        let kind = kind(of: code, reason: reason)
        switch kind {
        case .tls, .destinationRefused, .invalidCall: end(kind)
        case .brokenConnection where isHeadTooLong:
            end(kind, detail: "the head of the answer is longer than 64 KiB")
        case .brokenConnection where code == CURLE_ABORTED_BY_CALLBACK:
            end(kind, detail: "a kept connection was closed before any answer")
        case .unresolvedHost, .connectFailed, .timedOut, .brokenConnection, .tooManyCalls,
            .cancelled:
            end(kind, detail: reason)
        }
    }

    private func kind(of code: CURLcode, reason: String) -> HTTPClientError.Kind {
        if let refusal, !hasOpenedSocket { return .destinationRefused(refusal) }
        switch code {
        case CURLE_URL_MALFORMAT: return .invalidCall("its URL is malformed")
        case CURLE_COULDNT_RESOLVE_HOST: return .unresolvedHost
        case CURLE_COULDNT_CONNECT: return .connectFailed
        case CURLE_OPERATION_TIMEDOUT: return .timedOut
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT:
            return .tls(reason)
        case _: return wasIssued ? .brokenConnection : .connectFailed
        }
    }
}
