import Configuration
import FoundationEssentials
import JSON
import Settings

/// Configurations for the tests of this room.
enum SettingsWorld {
    static let environment = [
        "DATABASE_URL": "postgresql://journey@db/journey",
        "REVENUECAT_AUTHORIZATION": "Bearer abcdefgh",
        "SUPERWALL_SECRET": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "CRM_SIGNING_SECRET": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx",
        "CRM_AUTHORIZATION": "Bearer crm-token",
        "MESSAGES_SIGNING_SECRET": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSy",
        "SLACK_URL": "https://hooks.slack.com/services/T0/B0/x",
        "EVENTS_TOKEN": "a-token-of-the-back-end",
    ]

    /// The smallest usable configuration, with `changes` at its top level.
    static func json(_ changes: JSONObject = JSONObject()) -> JSONValue {
        var object = JSONObject([
            ("allow_literal_secrets", true), ("database", ["url": "host=nowhere"]),
        ])
        for (key, value) in changes { object[key] = value }
        return .object(object)
    }

    static func read(
        _ json: JSONValue, _ environment: [String: String] = [:]
    ) throws -> WorkerSettings {
        try WorkerSettings.read(ConfigurationSource(bytes: json.bytes, environment: environment))
    }

    /// The problems of a configuration, each as `pointer: sentence`; empty when it is usable.
    static func problems(
        _ json: JSONValue, _ environment: [String: String] = [:]
    ) -> [String] {
        let source = ConfigurationSource(bytes: json.bytes, environment: environment)
        do throws(ConfigurationRejection) {
            _ = try WorkerSettings.read(source)
            return []
        } catch {
            return error.problems.map { "\($0.pointer): \($0.sentence)" }
        }
    }
}
