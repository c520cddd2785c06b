import Connectors
import FoundationEssentials
import JSON
import TimeZones

/// Connectors, bodies and times for the tests of this room.
enum World {
    /// 2026-03-30T00:00:00Z, after the story's first month.
    static let receivedAt = Instant(milliseconds: 1_774_828_800_000)

    static func connector(
        _ provider: String, identity: String? = nil, unknownEnvironment: String = "sandbox"
    ) throws -> Connector {
        guard let definition = ProviderDefinition.shipped(named: provider) else {
            throw Missing(what: provider)
        }
        return try Connector(
            name: provider, provider: definition,
            authentication: [Authentication(scheme: .none, secrets: [])],
            identity: identity.flatMap { JSONPointer($0) },
            unknownEnvironment: unknownEnvironment, allowsUnauthenticated: true)
    }

    /// One of `Tests/Fixtures/webhooks`, such as `revenuecat/test`.
    static func webhook(_ name: String) throws -> [UInt8] {
        var url = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { url.deleteLastPathComponent() }
        url.append(path: "Fixtures/webhooks/\(name).json")
        return Array(try Data(contentsOf: url))
    }

    static let webhooks = [
        "revenuecat/trial-started", "revenuecat/trial-converted", "revenuecat/billing-issue",
        "revenuecat/cancelled-billing-error", "revenuecat/cancelled", "revenuecat/refunded",
        "revenuecat/expired", "revenuecat/transfer", "revenuecat/test",
        "superwall/subscription-started", "superwall/renewed", "superwall/cancelled",
        "superwall/refunded", "superwall/trial-started", "superwall/trial-converted",
    ]

    struct Missing: Error {
        let what: String
    }
}

extension JSONValue {
    /// A copy with `value` at the pointer's place; objects on the way are made.
    func setting(_ pointer: JSONPointer, to value: JSONValue?) -> JSONValue {
        guard let key = pointer.tokens.first else { return value ?? .null }
        var object = object ?? JSONObject()
        let rest = JSONPointer(tokens: Array(pointer.tokens.dropFirst()))
        object[key] =
            rest.tokens.isEmpty
            ? value : (object[key] ?? .object(JSONObject())).setting(rest, to: value)
        return .object(object)
    }

    func setting(_ pointer: String, to value: JSONValue?) -> JSONValue {
        setting(JSONPointer(pointer) ?? JSONPointer(), to: value)
    }
}
