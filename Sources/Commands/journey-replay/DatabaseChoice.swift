internal import CommandLine
internal import Configuration
internal import PrivateCluster
internal import Settings

/// Which database a verb works on, and how that is said without a secret.
struct DatabaseChoice: Sendable, Hashable {
    /// Who named it.
    enum Source: Sendable, Hashable {
        case option
        case configuration(file: String)
        case cluster(home: String)
        case environment

        var words: String {
            switch self {
            case .option: "--database"
            case .configuration(let file): file
            case .cluster(let home): "the private cluster under \(home)"
            case .environment: "DATABASE_URL"
            }
        }
    }

    /// Conninfo or URL, as libpq reads it; may hold a password.
    let connectionString: String
    let source: Source
    /// Whether statements are prepared; false through a pooler in transaction mode.
    var prepares = true
    /// Where feature access is read, if not here; may hold a password.
    var featureString: String?

    /// What libpq takes from the environment where the connection string does not say it.
    var defaults: [String: String] = [:]

    /// What is said on standard error.
    var target: String {
        "database: \(Self.place(of: connectionString, defaults: defaults)), from \(source.words)"
    }

    /// The database that `journey-worker dev` makes in its cluster.
    private static let developmentDatabase = "journeys"

    /// - Parameters:
    ///   - changes: whether the verb writes: then two candidates that nobody named are refused.
    ///   - runningCluster: conninfo of the cluster that runs under a home; nil when none does.
    static func make(
        _ parsed: ParsedCommand, environment: [String: String], changes: Bool,
        runningCluster: (String) -> String? = { PrivateCluster.running(home: $0) }
    ) throws -> DatabaseChoice {
        var choice = try chosen(
            parsed, environment: environment, changes: changes, runningCluster: runningCluster)
        for (part, name) in [
            ("dbname", "PGDATABASE"), ("host", "PGHOST"), ("port", "PGPORT"), ("user", "PGUSER"),
        ] {
            choice.defaults[part] = environment[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        return choice
    }

    private static func chosen(
        _ parsed: ParsedCommand, environment: [String: String], changes: Bool,
        runningCluster: (String) -> String?
    ) throws -> DatabaseChoice {
        if let url = parsed.option("database") {
            return DatabaseChoice(connectionString: Self.named(url), source: .option)
        }
        if let file = parsed.option("config") {
            let settings = try WorkerSettings.read(.file(file, environment: environment))
            return DatabaseChoice(
                connectionString: settings.database.url.revealed,
                source: .configuration(file: file), prepares: settings.database.prepares,
                featureString: settings.features.url?.revealed)
        }
        let home = parsed.option("data") ?? ".journeys"
        let url = environment["DATABASE_URL"].flatMap { $0.isEmpty ? nil : $0 }
        if let conninfo = runningCluster(home) {
            if changes, url != nil, parsed.option("data") == nil {
                throw ReplayFailure.refused(
                    "A private cluster runs under \(home) and DATABASE_URL is set; name the one to "
                        + "change with --data or --database.")
            }
            // Of a word that stands twice libpq takes the last.
            return DatabaseChoice(
                connectionString: "\(conninfo) dbname=\(developmentDatabase)",
                source: .cluster(home: home))
        }
        if parsed.option("data") != nil {
            throw ReplayFailure(
                .usage,
                "No private cluster runs under \(home); start it with journey-worker dev --data "
                    + "\(home), or name a database with --database.")
        }
        guard let url else {
            throw ReplayFailure(
                .usage,
                "No database is named; use --database or --config, set DATABASE_URL, or start "
                    + "journey-worker dev.")
        }
        return DatabaseChoice(connectionString: url, source: .environment)
    }

    /// A bare word is a database's name, as psql takes it; libpq itself would refuse it.
    private static func named(_ text: String) -> String {
        let isWord = !text.contains("=") && !text.contains("://")
        guard isWord else { return text }
        let quoted = text.map { $0 == "'" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined()
        return "dbname='\(quoted)'"
    }

    // MARK: Saying it

    /// Database, host and role, made of the parts that are no secret: what is not understood is left
    /// out rather than shown.
    static func place(
        of connectionString: String, defaults: [String: String] = [:]
    ) -> String {
        var parts = parts(of: connectionString)
        if parts["service"] == nil { parts.merge(defaults) { own, _ in own } }
        var text = parts["dbname"].map { "\"\($0)\"" } ?? parts["service"].map { "service \($0)" }
        text = text ?? "the role's own"
        let host = parts["host"] ?? parts["hostaddr"] ?? "the local socket"
        let port = parts["port"].map { ":\($0)" } ?? ""
        let role = parts["user"].map { " as \($0)" } ?? ""
        return "\(text ?? "") at \(host)\(port)\(role)"
    }

    private static func parts(of text: String) -> [String: String] {
        for scheme in ["postgresql://", "postgres://"] where text.hasPrefix(scheme) {
            return urlParts(text.dropFirst(scheme.count))
        }
        return conninfoParts(text)
    }

    /// `user:password@host:port/database?…`.
    private static func urlParts(_ rest: Substring) -> [String: String] {
        var parts: [String: String] = [:]
        let whole = rest.prefix { $0 != "?" && $0 != "#" }
        let slash =
            whole.lastIndex(of: "@").flatMap { whole[$0...].firstIndex(of: "/") }
            ?? whole.firstIndex(of: "/")
        var authority = whole[..<(slash ?? whole.endIndex)]
        if let slash, whole.index(after: slash) < whole.endIndex {
            parts["dbname"] = String(whole[whole.index(after: slash)...])
        }
        if let at = authority.lastIndex(of: "@") {
            let user = authority[..<at].prefix { $0 != ":" }
            if !user.isEmpty { parts["user"] = String(user) }
            authority = authority[authority.index(after: at)...]
        }
        if !authority.isEmpty { parts["host"] = String(authority) }
        return parts
    }

    /// `host=… user=…`; values with blanks stand in single quotes.
    private static func conninfoParts(_ text: String) -> [String: String] {
        var parts: [String: String] = [:]
        var rest = text[...]
        while let equals = rest.firstIndex(of: "=") {
            let key = rest[..<equals].filter { !$0.isWhitespace }
            rest = rest[rest.index(after: equals)...].drop { $0.isWhitespace }
            let isQuoted = rest.first == "'"
            if isQuoted { rest = rest.dropFirst() }
            var value = ""
            while let character = rest.popFirst() {
                if character == "\\", let escaped = rest.popFirst() {
                    value.append(escaped)
                } else if isQuoted ? character == "'" : character.isWhitespace {
                    break
                } else {
                    value.append(character)
                }
            }
            parts[key] = value
        }
        return parts
    }
}
