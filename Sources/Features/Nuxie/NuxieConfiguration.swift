/// How the SDK is set up.
public struct NuxieConfiguration: Sendable {
    /// Who finishes App Store transactions that the SDK sees.
    public enum PurchaseHandlingMode: Sendable, Hashable {
        /// The SDK does, once the server has taken a transaction in.
        case full
        /// The app does; the SDK submits transactions and never finishes one.
        case observer
    }

    /// How much is logged.
    public enum LogLevel: Int, Sendable, Hashable, Comparable {
        /// What happens step by step.
        case debug
        /// What was done.
        case info
        /// What went wrong and is tried again.
        case warning
        /// What was lost or refused.
        case error
        /// Nothing.
        case none

        /// By how grave they are.
        public static func < (left: LogLevel, right: LogLevel) -> Bool {
            left.rawValue < right.rawValue
        }
    }

    /// The key of the app, as the server's configuration names it under `keys`.
    public var apiKey: String
    /// Where the server is, such as `https://app.example.com`.
    public var apiEndpoint: String
    /// Where events go; nil sends them to ``apiEndpoint``, where a proxy tells the two servers apart.
    public var eventEndpoint: String?
    /// Who finishes App Store transactions; `full` unless said otherwise.
    public var purchaseHandlingMode: PurchaseHandlingMode = .full
    /// The billing system that checkouts go through; nil buys with StoreKit.
    public var purchaseDelegate: (any NuxiePurchaseDelegate)?
    /// How long one request may take; 30 s unless said otherwise, at least 1 s.
    public var requestTimeout: Duration = .seconds(30)
    /// How long a call that consumes waits for the server through repeats; 30 s unless said otherwise.
    public var operationTimeout: Duration = .seconds(30)
    /// How long cached access is fresh; five minutes unless said otherwise.
    public var featureCacheLifetime: Duration = .seconds(300)
    /// The folder that operations and the identity are kept in; nil is the platform's place for data that
    /// an app keeps. Two processes need two folders.
    public var storageFolder: String?
    /// Less is not logged.
    public var logLevel: LogLevel = .warning
    /// Takes log lines; nil writes them to standard error.
    public var logHandler: (@Sendable (LogLevel, String) -> Void)?

    /// A configuration with the two members that have no default.
    public init(apiKey: String, apiEndpoint: String) {
        self.apiKey = apiKey
        self.apiEndpoint = apiEndpoint
    }

    /// - Throws: ``NuxieError`` that names the member which cannot be used.
    func check() throws(NuxieError) {
        guard (8...256).contains(apiKey.utf8.count) else {
            throw NuxieError(
                .invalidConfiguration,
                "apiKey has \(apiKey.utf8.count) bytes and needs 8 to 256; copy it from the server's "
                    + "configuration.")
        }
        for (name, value) in [
            ("apiEndpoint", apiEndpoint), ("eventEndpoint", eventEndpoint ?? apiEndpoint),
        ] where !Self.isEndpoint(value) {
            throw NuxieError(
                .invalidConfiguration,
                "\(name) is \"\(value.prefix(128))\"; write https:// (or http://), a host, and "
                    + "perhaps a port and a path.")
        }
        guard requestTimeout >= .seconds(1), operationTimeout >= .zero,
            featureCacheLifetime >= .zero
        else {
            throw NuxieError(
                .invalidConfiguration,
                "requestTimeout is at least one second, and no other duration is negative.")
        }
    }

    private static func isEndpoint(_ text: String) -> Bool {
        for scheme in ["https://", "http://"] where text.hasPrefix(scheme) {
            let rest = text.dropFirst(scheme.count)
            let host = rest.prefix { $0 != "/" }
            return !host.isEmpty && text.utf8.count <= 2_048
                && text.utf8.allSatisfy { $0 > 32 && $0 < 127 }
                && !rest.contains { "?#@".contains($0) }
        }
        return false
    }
}
