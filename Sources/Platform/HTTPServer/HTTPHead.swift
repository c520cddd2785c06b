/// The head of a request: what is known before its body is read.
package struct HTTPHead: Sendable, Hashable {
    /// The method as sent; methods are case-sensitive.
    package var method: String
    /// The request target as sent.
    package var target: String
    /// The target's path, still percent-encoded: begins with "/", or is "*".
    package var path: String
    /// What follows the first "?" of the target, still percent-encoded.
    package var query: String?
    /// The header fields; `Host` and framing are checked already.
    package var headers: HTTPFields
    /// Whether the client speaks HTTP/1.1; else HTTP/1.0, whose connections close after one answer.
    package var isVersion11: Bool
    /// Whether the client leaves the connection open for another request.
    package var keepsAlive: Bool
    /// Whether the client waits for "100 Continue" before it sends the body.
    package var expectsContinue: Bool
    /// Whether a body of at least one byte (or of chunks) follows.
    package var hasBody: Bool

    /// The path's segments, percent-decoded one by one, so that `%2F` stays inside its segment:
    /// "/v1/a%20b" gives ["v1", "a b"]. Dot segments are not resolved.
    ///
    /// nil when an escape is broken, gives a NUL, or gives no UTF-8.
    package var pathSegments: [String]? {
        var segments: [String] = []
        for part in path.utf8.dropFirst().split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        {
            guard let segment = HTTPTarget.decode(part, plusIsSpace: false) else { return nil }
            segments.append(segment)
        }
        return segments
    }

    /// The decoded values of a query parameter, in the order sent; undecodable ones are left out.
    package func queryValues(of name: String) -> [String] {
        guard let query else { return [] }
        return query.utf8.split(separator: UInt8(ascii: "&")).compactMap { pair in
            let parts = pair.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let key = parts.first, HTTPTarget.decode(key, plusIsSpace: true) == name
            else { return nil }
            return parts.count == 2 ? HTTPTarget.decode(parts[1], plusIsSpace: true) : ""
        }
    }
}

/// A whole request as the application gets it.
package struct HTTPRequest: Sendable, Hashable {
    /// What was known before the body was read.
    package var head: HTTPHead
    /// The body as sent, chunks joined; a `Content-Encoding` is left as it is.
    package var body: [UInt8]
    /// The client's address: the socket's peer, or what a trusted proxy says.
    package var peerAddress: String
    /// Also the answer's `X-Request-Id`.
    package var requestID: String
    /// Whether the client spoke TLS, to us or, as it says, to a trusted proxy.
    package var isSecure: Bool

    /// See ``HTTPHead/method``.
    package var method: String { head.method }
    /// See ``HTTPHead/target``.
    package var target: String { head.target }
    /// See ``HTTPHead/path``.
    package var path: String { head.path }
    /// See ``HTTPHead/query``.
    package var query: String? { head.query }
    /// See ``HTTPHead/headers``.
    package var headers: HTTPFields { head.headers }

    /// A request with the head as parsed.
    package init(
        head: HTTPHead, body: [UInt8], peerAddress: String, requestID: String, isSecure: Bool
    ) {
        self.head = head
        self.body = body
        self.peerAddress = peerAddress
        self.requestID = requestID
        self.isSecure = isSecure
    }

    /// A request made by hand, for the tests of handlers.
    ///
    /// - Parameter target: an origin-form target, "/path?query".
    package init(
        method: String, target: String, headers: HTTPFields = [], body: [UInt8] = [],
        peerAddress: String = "127.0.0.1", requestID: String = "request-1", isSecure: Bool = false
    ) {
        let parts = HTTPTarget.split(target)
        self.init(
            head: HTTPHead(
                method: method, target: target, path: parts.path, query: parts.query,
                headers: headers, isVersion11: true, keepsAlive: true, expectsContinue: false,
                hasBody: !body.isEmpty),
            body: body, peerAddress: peerAddress, requestID: requestID, isSecure: isSecure)
    }
}
