internal import Configuration
internal import Crypto
internal import JSON
internal import PrivateCluster
internal import Settings
internal import Telemetry

/// The product as a newcomer would configure it, for a database of the bench.
struct ProductSettings: Sendable {
    let revenueCatSecret = "Bearer " + Hex.encode(randomBytes(16))
    let superwallKey = randomBytes(24)

    var templates: [WebhookTemplate] {
        [
            .revenueCat(secret: revenueCatSecret),
            .superwall(key: HMACSHA256(key: superwallKey)),
        ]
    }

    func worker(database: String, of cluster: PrivateCluster) throws -> WorkerSettings {
        let json: JSONValue = [
            "allow_literal_secrets": true,
            "database": ["url": .string(cluster.connectionString(database: database))],
            "listen": ["ingest": "127.0.0.1:0", "admin": "127.0.0.1:0"],
            "connectors": [
                "revenuecat": connector(
                    "revenuecat", scheme: "authorization", secret: revenueCatSecret),
                "superwall": connector(
                    "superwall", scheme: "standard-webhooks",
                    secret: "whsec_" + Base64.encode(superwallKey)),
            ],
            "shutdown": ["grace": "PT2S"],
        ]
        return try WorkerSettings.read(
            ConfigurationSource(bytes: json.bytes, environment: [:], place: "the bench's settings"))
    }

    private func connector(_ provider: String, scheme: String, secret: String) -> JSONValue {
        [
            "provider": .string(provider),
            "authenticate": [["scheme": .string(scheme), "secret": .string(secret)]],
        ]
    }

    /// Only what would make a number wrong.
    static let log = Log(
        level: .warning, format: .text, customers: .plain, clock: systemClock)
}
