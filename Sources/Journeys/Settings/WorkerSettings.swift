package import Configuration
package import Connectors
package import Telemetry
internal import TimeZones

/// The product's configuration, read and checked as a whole.
package struct WorkerSettings: Sendable {
    package var database: DatabaseSettings
    package var listen: ListenSettings
    /// Default zone of workflows that name none.
    package var timezone: String
    /// The definitions that connectors may name: shipped ones, and those of `providers.files`.
    package var providers: [ProviderDefinition]
    /// By name, as in `/v1/webhooks/{name}`.
    package var connectors: [String: Connector]
    /// How long each connector may be silent before it is told of; zero for as long as it likes.
    package var silences: [String: Duration]
    package var accounts: [String: AccountSettings]
    /// Who may send the app's own events, by name.
    package var sources: [String: SourceSettings]
    /// Who is told what happens to runs; nil for nobody.
    package var outbound: OutboundSettings?
    package var features: FeatureReadingSettings
    package var worker: WorkerLoopSettings
    package var dispatch: DispatchSettings
    /// How long a drain may take before what is in flight is handed back.
    package var shutdownGrace: Duration
    package var retention: RetentionSettings
    package var log: LogSettings

    /// Reads a configuration.
    ///
    /// - Throws: every problem with its pointer; nothing of a configuration with problems is used.
    package static func read(
        _ source: ConfigurationSource
    ) throws(ConfigurationRejection) -> WorkerSettings {
        try source.read { root in
            let listen = ListenSettings(root.object("listen"))
            let providers = readProviders(root.object("providers"), place: source.place)
            return WorkerSettings(
                database: DatabaseSettings(root.object("database")), listen: listen,
                timezone: readTimezone(root), providers: providers,
                connectors: readConnectors(
                    root, providers, place: source.place, listensOnLoopback: listen.isLoopback),
                silences: readSilences(root), accounts: readAccounts(root),
                sources: readSources(root),
                outbound: root.optionalObject("outbound").map { OutboundSettings($0) },
                features: FeatureReadingSettings(root.object("features")),
                worker: WorkerLoopSettings(root.object("worker")),
                dispatch: DispatchSettings(root.object("dispatch")),
                shutdownGrace: root.object("shutdown").duration(
                    "grace", in: .zero ... .seconds(600), default: .seconds(25)),
                retention: RetentionSettings(root.object("retention")),
                log: LogSettings(root.object("log")))
        }
    }

    /// A name of the installed tzdata; without tzdata any name is taken and resolved later.
    private static func readTimezone(_ root: ConfigurationReader) -> String {
        let name = root.string("timezone", default: "Etc/UTC")
        guard let database = try? TimeZoneDatabase() else { return name }
        do throws(TimeZoneProblem) {
            _ = try database.rules(named: name)
        } catch {
            root.problem("timezone", error.description)
        }
        return name
    }

    private static func readConnectors(
        _ root: ConfigurationReader, _ providers: [ProviderDefinition], place: String,
        listensOnLoopback: Bool
    ) -> [String: Connector] {
        var connectors: [String: Connector] = [:]
        for (name, reader) in root.objects("connectors") {
            connectors[name] = Connector(
                reader, name: name, providers: providers, place: place,
                listensOnLoopback: listensOnLoopback)
        }
        return connectors
    }

    /// Three days cover a quiet weekend of a small app; a busy one says less.
    private static func readSilences(_ root: ConfigurationReader) -> [String: Duration] {
        var silences: [String: Duration] = [:]
        for (name, reader) in root.objects("connectors") {
            silences[name] = reader.duration(
                "silence", in: .zero ... .seconds(366 * 86_400), default: .seconds(3 * 86_400))
        }
        return silences
    }

    /// Sources and connectors share their names: each event says by one name whom it came from.
    private static func readSources(_ root: ConfigurationReader) -> [String: SourceSettings] {
        let connectors = Set(root.objects("connectors").map { $0.0 })
        var sources: [String: SourceSettings] = [:]
        for (name, reader) in root.objects("sources") {
            if connectors.contains(name) {
                root.problem(
                    "sources", "\(name) names a connector too; give the source another name.")
            }
            sources[name] = SourceSettings(reader, name: name)
        }
        return sources
    }

    private static func readAccounts(_ root: ConfigurationReader) -> [String: AccountSettings] {
        var accounts: [String: AccountSettings] = [:]
        for (name, reader) in root.objects("accounts") {
            if name.hasPrefix("$") {
                root.problem(
                    "accounts",
                    "\(name) begins with $, as only the worker's own do; name the account otherwise."
                )
            }
            accounts[name] = AccountSettings(reader, name: name)
        }
        return accounts
    }
}

/// `database`.
package struct DatabaseSettings: Sendable {
    /// A libpq connection string or URL.
    package var url: Secret
    /// Connections, 2 to 100.
    package var pool: Int
    /// Whether statements are prepared; false through a pooler in transaction mode.
    package var prepares: Bool
    package var statementTimeout: Duration
    /// Past a pooler: migrations and LISTEN; nil for `url`.
    package var directURL: Secret?

    /// Settings for a database found otherwise, such as `dev`'s own cluster.
    package init(
        url: Secret, pool: Int = 8, prepares: Bool = true,
        statementTimeout: Duration = .seconds(10), directURL: Secret? = nil
    ) {
        self.url = url
        self.pool = pool
        self.prepares = prepares
        self.statementTimeout = statementTimeout
        self.directURL = directURL
    }

    private enum Preparation: String, CaseIterable {
        case auto, never
    }

    init(_ reader: ConfigurationReader) {
        self.init(
            url: reader.requiredSecret("url"),
            pool: reader.integer("pool", in: 2...100, default: 8),
            prepares: reader.choice("prepare", default: Preparation.auto) == .auto,
            statementTimeout: reader.duration(
                "statement_timeout", in: .milliseconds(100) ... .seconds(600),
                default: .seconds(10)),
            directURL: reader.secret("direct_url"))
    }
}

/// `features`: where feature access is read.
package struct FeatureReadingSettings: Sendable {
    /// A libpq connection string or URL, of a role that may read the view; nil for the worker's own.
    package var url: Secret?
    /// Connections, 1 to 100.
    package var pool: Int

    init(_ reader: ConfigurationReader) {
        url = reader.secret("url")
        pool = reader.integer("pool", in: 1...100, default: 2)
    }
}

/// `listen`.
package struct ListenSettings: Sendable {
    /// `host:port` of the webhook endpoint.
    package var ingest: String
    /// `host:port` of health and metrics.
    package var admin: String
    package var certificateFile: String?
    package var keyFile: String?
    /// Addresses and networks whose `X-Forwarded-*` headers are believed.
    package var trustedProxies: [String]
    /// Bytes of the largest body taken.
    package var maximumBody: Int
    package var maximumConnections: Int

    /// Whether the webhook endpoint can be reached from this machine only.
    package var isLoopback: Bool {
        ["127.", "localhost:", "[::1]:"].contains { ingest.hasPrefix($0) }
    }

    init(_ reader: ConfigurationReader) {
        ingest = reader.string("ingest", default: "127.0.0.1:8080")
        admin = reader.string("admin", default: "127.0.0.1:9090")
        for (key, address) in [("ingest", ingest), ("admin", admin)] {
            let colon = address.lastIndex(of: ":")
            let port = colon.flatMap { UInt16(address[address.index(after: $0)...]) }
            if port == nil || colon == address.startIndex {
                reader.problem(key, "An address is written host:port, such as 127.0.0.1:8080.")
            }
        }
        trustedProxies = reader.stringArray("trusted_proxies") ?? []
        maximumBody = reader.integer("max_body", in: 1_024...67_108_864, default: 1_048_576)
        maximumConnections = reader.integer("max_connections", in: 1...65_536, default: 4_096)
        if let tls = reader.optionalObject("tls") {
            certificateFile = tls.requiredString("certificate")
            keyFile = tls.requiredString("key")
        }
    }
}

/// `worker`.
package struct WorkerLoopSettings: Sendable {
    /// Customers a turn takes at once, 1 to 500.
    package var batch: Int
    /// Longest wait between two looks without a signal.
    package var poll: Duration
    /// Turns at once in this process.
    package var concurrency: Int

    init(_ reader: ConfigurationReader) {
        batch = reader.integer("batch", in: 1...500, default: 200)
        poll = reader.duration(
            "poll", in: .milliseconds(10) ... .seconds(60), default: .seconds(1))
        concurrency = reader.integer("concurrency", in: 1...16, default: 2)
    }
}

/// `dispatch`.
package struct DispatchSettings: Sendable {
    /// Attempts at once in this process.
    package var concurrency: Int

    init(_ reader: ConfigurationReader) {
        concurrency = reader.integer("concurrency", in: 1...1_024, default: 64)
    }
}

/// `log`.
package struct LogSettings: Sendable {
    package var format: LogFormat
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
