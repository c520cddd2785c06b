/// Why a call of the SDK has no answer. A thrown error is never a denial: whether a feature is allowed or
/// a consumption accepted is told by a value.
public struct NuxieError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of error it is; later versions may add kinds, so keep a way out for others.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The code's name.
        public let rawValue: String

        /// A code by its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// `setup(with:)` was not called yet, or `shutdown()` was.
        public static let notConfigured = Code(rawValue: "not_configured")
        /// The configuration cannot be used; the message names the member.
        public static let invalidConfiguration = Code(rawValue: "invalid_configuration")
        /// An argument is outside what the page of the call says; nothing was sent.
        public static let invalidArgument = Code(rawValue: "invalid_argument")
        /// The server could not be reached, or its answer did not arrive: what was sent may have been
        /// taken. It is repeated under the same operation id.
        public static let unreachable = Code(rawValue: "unreachable")
        /// The server has no time now; see ``NuxieError/retryAfter``.
        public static let unavailable = Code(rawValue: "unavailable")
        /// The server refuses the API key.
        public static let unauthorized = Code(rawValue: "unauthorized")
        /// The server refuses the request; it is not repeated. See ``NuxieError/serverCode``.
        public static let refused = Code(rawValue: "refused")
        /// The answer could not be understood.
        public static let malformedAnswer = Code(rawValue: "malformed_answer")
        /// The customer changed while the call waited: the answer is not the new customer's.
        public static let identityChanged = Code(rawValue: "identity_changed")
        /// The operation id belongs to another command of this customer.
        public static let operationConflict = Code(rawValue: "operation_conflict")
        /// The operation could not be written to disk, so it was not sent.
        public static let storageFailed = Code(rawValue: "storage_failed")
        /// As many operations wait to be sent as may; this one was not taken.
        public static let tooManyPending = Code(rawValue: "too_many_pending")
        /// The App Store's purchase was not believed by the server, so nothing was granted or deducted.
        public static let purchaseRefused = Code(rawValue: "purchase_refused")
        /// Checkout could not be begun or failed.
        public static let purchaseFailed = Code(rawValue: "purchase_failed")
    }

    /// The kind.
    public let code: Code
    /// One sentence: the fact, the place, the next step.
    public let message: String
    /// The server's own code, where it refused.
    public let serverCode: String?
    /// How long the server asks to be left alone, where it said so.
    public let retryAfter: Duration?

    init(
        _ code: Code, _ message: String, serverCode: String? = nil, retryAfter: Duration? = nil
    ) {
        self.code = code
        self.message = message
        self.serverCode = serverCode
        self.retryAfter = retryAfter
    }

    /// The message.
    public var description: String { message }

    static let notConfigured = NuxieError(
        .notConfigured, "The SDK is not set up; call NuxieSDK.shared.setup(with:) first.")

    static let identityChanged = NuxieError(
        .identityChanged,
        "The customer changed while the call waited; ask again for the customer who is here now.")

    static func invalid(_ message: String) -> NuxieError { NuxieError(.invalidArgument, message) }
}
