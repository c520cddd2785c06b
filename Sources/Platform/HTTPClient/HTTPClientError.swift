/// Why a call has no answer.
package struct HTTPClientError: Error, Sendable, Hashable {
    /// What happened.
    package enum Kind: Sendable, Hashable {
        /// The call breaks a rule of ``HTTPCall``; the text says which.
        case invalidCall(String)
        /// The ``DestinationPolicy`` forbids the host or every address of it; the text says why.
        case destinationRefused(String)
        /// The host's name has no address, or the resolver failed.
        case unresolvedHost
        /// No connection could be made.
        case connectFailed
        /// The TLS handshake failed or the certificate is not trusted; the text says why.
        case tls(String)
        /// One of the call's two time limits was reached.
        case timedOut
        /// The connection ended, or what came was not HTTP, before the answer was complete.
        case brokenConnection
        /// The transport already makes as many calls as it may.
        case tooManyCalls
        /// The task was cancelled or the transport shut down.
        case cancelled
    }

    /// What happened, for callers that branch.
    package let kind: Kind

    /// False only when certainly no byte of the request reached the other side. When true the request may
    /// have had its effect, whatever the ``kind``.
    package let requestMayHaveBeenSent: Bool

    /// The host that was called; never the path or query, which may hold secrets.
    package let host: String

    /// What the library below reported; may be empty.
    package let detail: String

    /// An error, also for doubles of the transport.
    package init(
        kind: Kind, requestMayHaveBeenSent: Bool, host: String = "", detail: String = ""
    ) {
        self.kind = kind
        self.requestMayHaveBeenSent = requestMayHaveBeenSent
        self.host = host
        self.detail = detail
    }
}

extension HTTPClientError: CustomStringConvertible {
    /// One sentence: the fact, the host, what is known about the request, the next step.
    package var description: String {
        let place = host.isEmpty ? "The HTTP call" : "The HTTP call to \(host)"
        let cause = detail.isEmpty ? "" : " (\(detail))"
        let sent =
            requestMayHaveBeenSent ? "the request may have been sent" : "nothing was sent"
        return "\(place) \(fact)\(cause); \(sent); \(nextStep)."
    }

    private var fact: String {
        switch kind {
        case .invalidCall(let reason): "is not allowed: \(reason)"
        case .destinationRefused(let reason): "was refused: \(reason)"
        case .unresolvedHost: "failed because the host's name could not be resolved"
        case .connectFailed: "failed because no connection could be made"
        case .tls(let reason): "failed because TLS could not be set up: \(reason)"
        case .timedOut: "reached its time limit"
        case .brokenConnection: "failed because the connection broke before the answer was complete"
        case .tooManyCalls: "was not made because too many are running"
        case .cancelled: "was cancelled"
        }
    }

    private var nextStep: String {
        switch kind {
        case .invalidCall: "correct the call"
        case .destinationRefused: "use a public address or permit this one in the account"
        case .unresolvedHost: "check the name and the resolver"
        case .connectFailed: "check that the host is up and reachable"
        case .tls: "check the host's certificate and this system's authorities"
        case .timedOut, .brokenConnection:
            requestMayHaveBeenSent
                ? "repeat it only if the other side recognises repeated requests" : "try again"
        case .tooManyCalls: "try again when others have ended"
        case .cancelled: "make it anew if it is still wanted"
        }
    }
}
