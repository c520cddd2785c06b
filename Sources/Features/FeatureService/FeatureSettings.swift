package import Configuration
internal import Postgres
package import Telemetry
internal import TimeZones

/// The configuration of `feature-server`, read and checked as a whole.
package struct FeatureSettings: Sendable {
    /// Where its database is.
    package var database: DatabaseSettings
    /// Where it listens.
    package var listen: ListenSettings
    /// Who may ask, by name; apps carry the key, so it is no secret.
    package var keys: [String: KeySettings]
    /// Whose purchases are taken in.
    package var appStore: AppStoreSettings
    /// Requests under way at once; one more is answered 503.
    package var mostInFlight: Int
    /// How long a drain may take.
    package var shutdownGrace: Duration
    /// What is logged, and how.
    package var log: LogSettings

    /// Begins the names of variables that override a setting, such as `FEATURE_LISTEN__PUBLIC`.
    package static let variablePrefix = "FEATURE_"

    /// Reads a configuration.
    ///
    /// - Throws: every problem with its pointer; nothing of a configuration with problems is used.
    package static func read(
        _ source: ConfigurationSource
    ) throws(ConfigurationRejection) -> FeatureSettings {
        try source.read { root in
            FeatureSettings(
                database: DatabaseSettings(root.object("database")),
                listen: ListenSettings(root.object("listen")), keys: readKeys(root),
                appStore: AppStoreSettings(root.object("app_store")),
                mostInFlight: root.object("limits").integer(
                    "in_flight", in: 1...10_000, default: 256),
                shutdownGrace: root.object("shutdown").duration(
                    "grace", in: .zero ... .seconds(600), default: .seconds(25)),
                log: LogSettings(root.object("log")))
        }
    }

    private static func readKeys(_ root: ConfigurationReader) -> [String: KeySettings] {
        var keys: [String: KeySettings] = [:]
        var holders: [String: String] = [:]
        for (name, reader) in root.objects("keys") {
            let settings = KeySettings(reader)
            if let other = holders[settings.publicKey], !settings.publicKey.isEmpty {
                reader.problem(
                    "public_key", "The key \(other) has the same text; give each its own.")
            }
            holders[settings.publicKey] = name
            keys[name] = settings
        }
        return keys
    }
}

/// `database`.
package struct DatabaseSettings: Sendable {
    /// A libpq connection string or URL.
    package var url: Secret
    /// Connections, 1 to 100.
    package var pool: Int
    /// Whether statements are prepared; false through a pooler in transaction mode.
    package var prepares: Bool
    /// The server's limit for one statement.
    package var statementTimeout: Duration
    /// Past a pooler, for migrations; nil for `url`.
    package var directURL: Secret?

    private enum Preparation: String, CaseIterable {
        case auto, never
    }

    init(_ reader: ConfigurationReader) {
        url = reader.requiredSecret("url")
        pool = reader.integer("pool", in: 1...100, default: 8)
        prepares = reader.choice("prepare", default: Preparation.auto) == .auto
        statementTimeout = reader.duration(
            "statement_timeout", in: .milliseconds(100) ... .seconds(600), default: .seconds(10))
        directURL = reader.secret("direct_url")
    }
}

/// `listen`.
package struct ListenSettings: Sendable {
    /// `host:port` that apps reach, through a proxy usually.
    package var address: String
    /// `host:port` of health and metrics.
    package var admin: String
    /// Served with TLS when there is a certificate.
    package var certificateFile: String?
    /// Of the certificate.
    package var keyFile: String?
    /// Addresses and networks whose `X-Forwarded-*` headers are believed.
    package var trustedProxies: [String]
    /// Bytes of the largest body taken.
    package var maximumBody: Int
    /// Open connections at once.
    package var maximumConnections: Int

    init(_ reader: ConfigurationReader) {
        address = reader.string("public", default: "127.0.0.1:8081")
        admin = reader.string("admin", default: "127.0.0.1:9091")
        for (key, address) in [("public", address), ("admin", admin)] {
            let colon = address.lastIndex(of: ":")
            let port = colon.flatMap { UInt16(address[address.index(after: $0)...]) }
            if port == nil || colon == address.startIndex {
                reader.problem(key, "An address is written host:port, such as 127.0.0.1:8081.")
            }
        }
        trustedProxies = reader.stringArray("trusted_proxies") ?? []
        maximumBody = reader.integer("max_body", in: 1_024...4_194_304, default: 262_144)
        maximumConnections = reader.integer("max_connections", in: 1...65_536, default: 4_096)
        if let tls = reader.optionalObject("tls") {
            certificateFile = tls.requiredString("certificate")
            keyFile = tls.requiredString("key")
        }
    }
}

/// `keys.NAME`.
package struct KeySettings: Sendable {
    /// What apps send as `apiKey`.
    package var publicKey: String
    /// Which ledger the key is for.
    package var isSandbox: Bool
    /// Requests a second that it may make for long.
    package var ratePerSecond: Int
    /// Requests that it may make at once after a rest.
    package var burst: Int

    private enum Environment: String, CaseIterable {
        case production, sandbox
    }

    init(_ reader: ConfigurationReader) {
        publicKey = reader.requiredString("public_key")
        if !publicKey.isEmpty, publicKey.utf8.count < 8 || publicKey.utf8.count > 256 {
            reader.problem("public_key", "A key has 8 to 256 bytes.")
        }
        isSandbox = reader.choice("environment", default: Environment.production) == .sandbox
        ratePerSecond = reader.integer("rate_per_second", in: 1...100_000, default: 500)
        burst = reader.integer("burst", in: 1...1_000_000, default: ratePerSecond * 2)
    }
}

/// `app_store`.
package struct AppStoreSettings: Sendable {
    /// Apps whose purchases are taken in; none takes in no purchase.
    package var bundleIDs: [String]
    /// Files of root certificates in DER that are trusted in place of Apple's, for tests; nil trusts
    /// Apple's alone.
    package var rootFiles: [String]?

    init(_ reader: ConfigurationReader) {
        bundleIDs = reader.stringArray("bundle_ids", limit: 100) ?? []
        rootFiles = reader.stringArray("roots", limit: 10)
        for file in rootFiles ?? [] where !file.hasPrefix("/") {
            reader.problem("roots", "The path \"\(file.prefix(128))\" is not absolute.")
        }
    }
}

/// `log`.
package struct LogSettings: Sendable {
    /// How lines look.
    package var format: LogFormat
    /// Less is not written.
    package var level: LogLevel
    /// Whether customers' ids are logged as they are; otherwise as a keyed hash.
    package var showsCustomerIDs: Bool

    private enum CustomerIDs: String, CaseIterable {
        case hash, plain
    }

    init(_ reader: ConfigurationReader) {
        format = reader.choice("format", default: LogFormat.json)
        level = reader.choice("level", default: LogLevel.info)
        showsCustomerIDs = reader.choice("customer_ids", default: CustomerIDs.hash) == .plain
    }
}
