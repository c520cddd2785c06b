/// Why the server itself, not the application, refused a request or gave a connection up.
package enum HTTPRefusal: String, Error, Sendable, Hashable, CaseIterable {
    case malformedRequestLine = "malformed_request_line"
    case malformedTarget = "malformed_target"
    case malformedField = "malformed_field"
    case malformedHost = "malformed_host"
    case malformedContentLength = "malformed_content_length"
    case malformedChunk = "malformed_chunk"
    /// A line ended by LF alone: two parsers in a row may disagree on where the head ends.
    case bareLineFeed = "bare_line_feed"
    /// `Transfer-Encoding` with `Content-Length`, twice, or in HTTP/1.0: request smuggling.
    case conflictingFraming = "conflicting_framing"
    case targetTooLong = "target_too_long"
    case headTooLarge = "head_too_large"
    case bodyTooLarge = "body_too_large"
    case unsupportedMethod = "unsupported_method"
    case unsupportedVersion = "unsupported_version"
    case unsupportedTransferEncoding = "unsupported_transfer_encoding"
    case unsupportedExpectation = "unsupported_expectation"
    case headTimeout = "head_timeout"
    case bodyTimeout = "body_timeout"
    case handlerTimeout = "handler_timeout"
    /// The client did not take its answer in time; nothing more can be said to it.
    case writeTimeout = "write_timeout"
    /// At the bound: an idle connection was closed for the newcomer, or accepting was paused.
    case tooManyConnections = "too_many_connections"
    /// `accept` found no descriptor or memory left; accepting pauses for a moment.
    case noDescriptors = "no_descriptors"
    /// The TLS handshake or a record failed.
    case tlsFailure = "tls_failure"

    /// The status answered before the connection is closed; nil where no answer is possible.
    package var status: Int? {
        switch self {
        case .malformedRequestLine, .malformedTarget, .malformedField, .malformedHost,
            .malformedContentLength, .malformedChunk, .bareLineFeed, .conflictingFraming:
            400
        case .headTimeout, .bodyTimeout: 408
        case .bodyTooLarge: 413
        case .targetTooLong: 414
        case .unsupportedExpectation: 417
        case .headTooLarge: 431
        case .unsupportedMethod, .unsupportedTransferEncoding: 501
        case .handlerTimeout: 503
        case .unsupportedVersion: 505
        case .writeTimeout, .tooManyConnections, .noDescriptors, .tlsFailure: nil
        }
    }
}

extension HTTPRefusal: CustomStringConvertible {
    /// One sentence for the client and the log; it holds nothing the client sent.
    package var description: String {
        switch self {
        case .malformedRequestLine: "The request line is not \"METHOD target HTTP/1.1\"."
        case .malformedTarget: "The request target is not a path, an absolute URL or \"*\"."
        case .malformedField: "A header field is not \"name: value\" on one line of visible text."
        case .malformedHost: "HTTP/1.1 wants exactly one valid Host field."
        case .malformedContentLength: "Content-Length must be one decimal number, sent once."
        case .malformedChunk: "The chunked body is broken."
        case .bareLineFeed: "Lines must end with CRLF."
        case .conflictingFraming:
            "Transfer-Encoding may stand once, in HTTP/1.1, and never beside Content-Length."
        case .targetTooLong: "The request target is too long."
        case .headTooLarge: "The header fields are too many or too large."
        case .bodyTooLarge: "The body is larger than this server accepts."
        case .unsupportedMethod: "This method is not known here."
        case .unsupportedVersion: "Only HTTP/1.0 and HTTP/1.1 are spoken here."
        case .unsupportedTransferEncoding: "The only transfer encoding known here is chunked."
        case .unsupportedExpectation: "The only expectation met here is 100-continue."
        case .headTimeout: "The header fields did not arrive in time."
        case .bodyTimeout: "The body did not arrive in time."
        case .handlerTimeout: "The answer was not ready in time; try again."
        case .writeTimeout: "The client did not take its answer in time."
        case .tooManyConnections: "The bound on open connections is reached."
        case .noDescriptors: "No file descriptor is left to accept a connection."
        case .tlsFailure: "The TLS handshake or a TLS record failed."
        }
    }
}
