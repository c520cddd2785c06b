import Connectors
import JSON
import Testing
import TimeZones

/// A provider that offers every scheme, so that each vector can be put to a connector.
private let anyProvider = Array(
    """
    {"provider": "any", "title": "Any", "version": 1, "object": "/o", "id": "/i", "type": "/t",
     "authenticate": {"schemes": ["authorization", "bearer", "basic", "revenuecat-hmac",
       "standard-webhooks", "stripe", "paddle", "lemonsqueezy"], "usual": "authorization"},
     "time": [{"at": "/at", "as": "s"}], "environment": {"at": "/e", "values": {}},
     "customer": {"ids": [{"at": "/c"}]}, "properties": {},
     "rules": [{"when": {"/t": "x"}, "outcome": "connector.test"}]}
    """.utf8)

struct SignatureVectorTests {
    private func connector(_ entries: [Authentication]) throws -> Connector {
        try Connector(
            name: "vectors", provider: try ProviderDefinition(parsing: anyProvider),
            authentication: entries)
    }

    /// Accepted only when the connector starts and takes the delivery; a configuration that does not
    /// start accepts nothing.
    private func isAccepted(_ vector: JSONValue, _ entries: [Authentication]) throws -> Bool {
        let connector: Connector
        do {
            connector = try self.connector(entries)
        } catch is ConnectorError {
            return false
        }
        let headers = (vector["headers"]?.object ?? JSONObject()).map {
            (name: $0.key, value: $0.value.string ?? "")
        }
        let outcome = connector.authenticate(
            headers: headers, body: Array((vector["body"]?.string ?? "").utf8),
            now: Instant(milliseconds: (vector["now"]?.integer ?? 0) * 1_000))
        return outcome == .accepted
    }

    private func tolerance(_ vector: JSONValue) -> Duration {
        .seconds(vector["tolerance_s"]?.integer ?? 300)
    }

    private func run(
        _ file: String, _ count: ExpectedCount,
        entries: (JSONValue) throws -> [Authentication]
    ) throws {
        guard let folder = ConformanceFolder() else { return }
        let vectors = try folder.vectors(file)
        for vector in vectors {
            let accepted = try isAccepted(vector, try entries(vector))
            let id = "\(file) \(vector["id"]?.string ?? "")"
            switch vector["expect"]?.string {
            // The libraries differ among themselves; here such a header is refused.
            case "policy": #expect(!accepted, "\(id)")
            case "ok", "ok_signature_then_bad_json": #expect(accepted, "\(id)")
            case _: #expect(!accepted, "\(id)")
            }
        }
        print("\(file): \(vectors.count) vectors checked")
        #expect(count.admits(vectors.count))
    }

    @Test func `Standard Webhooks signatures are judged as the vectors say`() throws {
        try run("standard_webhooks", ExpectedCount(selection: 21, whole: 35)) { vector in
            let secret = SharedSecret(try #require(vector["secret"]?.string))
            return [
                Authentication(
                    scheme: .standardWebhooks, secrets: [secret], tolerance: tolerance(vector))
            ]
        }
    }

    @Test func `Ed25519 signatures are judged as the vectors say`() throws {
        try run("standard_webhooks_asymmetric", ExpectedCount(selection: 1, whole: 2)) { vector in
            let key = SharedSecret(try #require(vector["public_key"]?.string))
            return [Authentication(scheme: .standardWebhooks, secrets: [key])]
        }
    }

    @Test(arguments: [
        ("stripe", AuthenticationScheme.stripe, ExpectedCount(selection: 18, whole: 28)),
        ("paddle", .paddle, ExpectedCount(selection: 9, whole: 17)),
        ("lemonsqueezy", .lemonSqueezy, ExpectedCount(selection: 3, whole: 5)),
    ])
    func `hexadecimal signatures are judged as the vectors say`(
        file: String, scheme: AuthenticationScheme, count: ExpectedCount
    ) throws {
        try run(file, count) { vector in
            var secrets = [vector["secret"]?.string].compactMap { $0 }
            // Two secrets may live at a time; the vector with three has its match in the last two.
            secrets += (vector["secrets"]?.array ?? []).suffix(2).compactMap(\.string)
            return [
                Authentication(
                    scheme: scheme, secrets: secrets.map { SharedSecret($0) },
                    tolerance: tolerance(vector))
            ]
        }
    }

    /// Where both are configured both must hold, and where nothing is, nothing is believed.
    @Test func `RevenueCat deliveries are judged as the vectors say`() throws {
        try run("revenuecat", ExpectedCount(selection: 13, whole: 23)) { vector in
            var entries: [Authentication] = []
            if let secret = vector["signing_secret"]?.string {
                entries.append(
                    Authentication(
                        scheme: .revenueCatHMAC, secrets: [SharedSecret(secret)],
                        tolerance: tolerance(vector)))
            }
            if let value = vector["authorization"]?.string {
                entries.append(
                    Authentication(scheme: .authorization, secrets: [SharedSecret(value)]))
            }
            return entries
        }
    }

    /// Qonversion's `Basic <token>` is no pair of user and password: it is configured as the whole value.
    @Test func `Authorization values are judged as the vectors say`() throws {
        try run("basic_and_static", ExpectedCount(selection: 6, whole: 8)) { vector in
            switch vector["scheme"]?.string {
            case "basic":
                let user = try #require(vector["username"]?.string)
                let password = try #require(vector["password"]?.string)
                let pair = SharedSecret("\(user):\(password)")
                return [Authentication(scheme: .basic, secrets: [pair])]
            case "qonversion":
                let token = SharedSecret("Basic " + (try #require(vector["token"]?.string)))
                return [Authentication(scheme: .authorization, secrets: [token])]
            case _:
                let value = SharedSecret(try #require(vector["value"]?.string))
                return [Authentication(scheme: .authorization, secrets: [value])]
            }
        }
    }

    /// A public key is no error by itself: it verifies Ed25519 and never becomes a symmetric key.
    @Test func `a secret that cannot be a key stops the start`() throws {
        let file = "standard_webhooks_secrets"
        guard let folder = ConformanceFolder() else { return }
        let vectors = try folder.vectors(file)
        for vector in vectors {
            let secret = try #require(vector["secret"]?.string)
            let entry = Authentication(scheme: .standardWebhooks, secrets: [SharedSecret(secret)])
            let id = vector["id"]?.string ?? ""
            switch vector["expect"]?.string {
            case "config_error":
                let error = #expect(throws: ConnectorError.self, "\(id)") {
                    _ = try connector([entry])
                }
                let sentence = error?.description ?? ""
                #expect(sentence.contains("\"vectors\", scheme \"standard-webhooks\""), "\(id)")
                #expect(secret.isEmpty || !sentence.contains(secret), "\(id)")
            case "config_error_for_symmetric":
                #expect(throws: Never.self, "\(id)") { _ = try connector([entry]) }
            case _:
                #expect(throws: Never.self, "\(id)") { _ = try connector([entry]) }
            }
        }
        print("\(file): \(vectors.count) vectors checked")
        #expect(ExpectedCount(selection: 3, whole: 9).admits(vectors.count))
    }
}
