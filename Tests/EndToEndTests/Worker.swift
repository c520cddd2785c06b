import Configuration
import HTTPClient
import HTTPServer
import JSON
import JourneyWorker
import Reactor
import Settings
import Telemetry
import TimeZones

/// A worker inside the test process.
struct Worker: Sendable {
    let service: WorkerService
    let metrics: Metrics
    let door: Door
    let admin: String
}

extension World {
    /// The configuration of every worker here, with the accounts that a test needs.
    func configuration(accounts: JSONValue = [:], changes: JSONObject = JSONObject()) -> JSONValue {
        var json = JSONObject([
            ("allow_literal_secrets", true),
            ("database", ["url": .string(conninfo), "pool": 4]),
            ("listen", ["ingest": "127.0.0.1:0", "admin": "127.0.0.1:0", "max_body": 65_536]),
            (
                "connectors",
                [
                    "revenuecat": [
                        "provider": "revenuecat",
                        "authenticate": [
                            ["scheme": "authorization", "secret": .string(Secrets.authorization)]
                        ],
                    ],
                    "superwall": [
                        "provider": "superwall",
                        "authenticate": [
                            ["scheme": "standard-webhooks", "secret": .string(Secrets.superwall)]
                        ],
                    ],
                ]
            ),
            ("accounts", accounts),
            ("worker", ["poll": "PT0.1S"]), ("shutdown", ["grace": "PT10S"]),
            ("log", ["level": "trace"]),
        ])
        for (key, value) in changes { json[key] = value }
        return .object(json)
    }

    /// Starts a worker, runs `body`, and drains it whatever happens.
    func withWorker(
        accounts: JSONValue = [:], roles: WorkerService.Roles = .all, holdsEffects: Bool = false,
        changes: JSONObject = JSONObject(), limits: HTTPLimits = HTTPLimits(),
        clock: @escaping @Sendable () -> Instant = systemClock,
        _ body: (Worker) async throws -> Void
    ) async throws {
        let source = ConfigurationSource(
            bytes: configuration(accounts: accounts, changes: changes).bytes, environment: [:])
        let settings = try WorkerSettings.read(source)
        let metrics = Metrics()
        let service = WorkerService(
            settings: settings, roles: roles, holdsEffects: holdsEffects, loop: loop,
            log: Log(
                level: settings.log.level, customers: .hash { _ in "hash" }, clock: systemClock,
                sink: log.sink), metrics: metrics, limits: limits, clock: clock)
        let addresses = try await service.start()
        let worker = Worker(
            service: service, metrics: metrics,
            door: Door(http: http, port: addresses.ingestPort ?? 0),
            admin: "http://127.0.0.1:\(addresses.adminPort)")
        do {
            try await body(worker)
        } catch {
            await service.drain()
            throw error
        }
        await service.drain()
    }

    /// GET on the admin listener: its status and text.
    func get(_ url: String) async throws -> (status: Int, text: String) {
        let answer = try await http.send(
            HTTPCall(
                method: "GET", url: url, timeout: .seconds(15),
                destination: DestinationPolicy(allowsPrivate: true)))
        return (answer.status, String(decoding: answer.body, as: UTF8.self))
    }

    /// An account of the tool `http` at a receiver here.
    static func account(
        port: UInt16, idempotent: Bool = true, changes: JSONObject = JSONObject()
    ) -> JSONValue {
        var json = JSONObject([
            ("base_url", .string("http://127.0.0.1:\(port)")), ("allow_private", true),
            ("secret", .string(Secrets.signing)),
            ("headers", ["Authorization": .string(Secrets.token)]),
            ("idempotent", .bool(idempotent)),
        ])
        for (key, value) in changes { json[key] = value }
        return .object(json)
    }
}
