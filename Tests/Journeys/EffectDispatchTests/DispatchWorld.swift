import Configuration
import JSON
import JourneyEngine
import JourneyModel
import JourneyStorage
import Settings
import TimeZones
import WorkflowDefinitions

/// Accounts and leases for the tests of this room.
enum DispatchWorld {
    static let invocation = InvocationID(String(repeating: "ab", count: 32))
    static let now = Instant(milliseconds: 1_775_000_000_500)

    /// Accounts as a configuration gives them.
    static func accounts(_ json: JSONValue) throws -> [String: AccountSettings] {
        let whole: JSONValue = [
            "allow_literal_secrets": true, "database": ["url": "host=nowhere"], "accounts": json,
        ]
        let source = ConfigurationSource(bytes: whole.bytes, environment: [:])
        return try WorkerSettings.read(source).accounts
    }

    static func account(_ json: JSONValue) throws -> AccountSettings {
        guard let account = try accounts(["crm": json])["crm"] else { throw Missing() }
        return account
    }

    static func lease(
        _ account: String?, tool: ActionStep.Tool = .http, attempt: Int = 1,
        wasAmbiguous: Bool = false
    ) -> LeasedEffect {
        LeasedEffect(
            customer: CustomerID(1), workflow: WorkflowID("w"), environment: "production",
            request: EffectRequest(
                invocation: invocation, run: RunID("run"), step: StepID("step"), attemptGroup: 0,
                tool: tool, account: account, request: JSONObject(), requestedAt: now,
                deadline: now + .seconds(60), attemptTimeout: .seconds(5), retry: RetryPolicy()),
            attempt: attempt, fence: 1, startedAt: now, leaseUntil: now + .seconds(35),
            wasAmbiguous: wasAmbiguous)
    }

    struct Missing: Error {}
}
