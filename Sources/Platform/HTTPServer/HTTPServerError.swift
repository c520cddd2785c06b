/// Why a listener could not start, or could not take new certificates.
package enum HTTPServerError: Error, Sendable, Hashable {
    /// The listen address is not "host:port".
    case invalidAddress(String)
    /// An entry of the trusted proxies is no address and no range.
    case invalidTrustedProxy(String)
    /// The system refused the address; `reason` is its message.
    case cannotListen(address: String, reason: String)
    /// A certificate or key file is not usable; `reason` is OpenSSL's message.
    case cannotUseTLS(file: String, reason: String)
    /// A listener starts once.
    case alreadyStarted
    /// There is no TLS to reload.
    case noTLS
}

extension HTTPServerError: CustomStringConvertible {
    /// One sentence with the fact, the place and the next step.
    package var description: String {
        switch self {
        case .invalidAddress(let text):
            "\"\(text)\" is no listen address: write \"127.0.0.1:8080\", \"0.0.0.0:8080\", "
                + "\"[::1]:8080\" or \"localhost:8080\"."
        case .invalidTrustedProxy(let text):
            "\"\(text)\" is no trusted proxy: write an address such as \"10.0.0.7\" or a range "
                + "such as \"10.0.0.0/8\"."
        case .cannotListen(let address, let reason):
            "Cannot listen on \(address): \(reason); choose another address or stop what holds it."
        case .cannotUseTLS(let file, let reason):
            "Cannot use \(file) for TLS: \(reason); give a PEM file that this user may read."
        case .alreadyStarted:
            "This HTTP listener was started before; make a new one."
        case .noTLS:
            "This HTTP listener has no TLS whose files could be read again."
        }
    }
}
