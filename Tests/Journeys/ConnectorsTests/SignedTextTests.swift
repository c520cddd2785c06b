import Connectors
import Crypto
import FoundationEssentials
import JSON
import JourneyModel
import Testing
import TimeZones

/// `apple-jws` and `google-oidc`, over `Tests/Fixtures/signatures`.
struct SignedTextTests {
    private func fixture(_ name: String) throws -> JSONValue {
        var url = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { url.deleteLastPathComponent() }
        url.append(path: "Fixtures/signatures/\(name).json")
        return try JSONParser.parse(Array(try Data(contentsOf: url)))
    }

    private func apple(_ source: JSONValue, _ bundles: [String] = ["com.example"]) throws
        -> Connector
    {
        let root = try #require(source["root"]?.string.flatMap { Base64.decode($0) })
        let app = AppleApp(
            bundleIDs: bundles, appleID: 1_234, signatures: AppleSignatures(roots: [root]))
        return try Connector(
            name: "apple", provider: try #require(ProviderDefinition.shipped(named: "apple")),
            authentication: [Authentication(scheme: .appleJWS, secrets: [], appleApp: app)])
    }

    private let now = Instant(milliseconds: 1_767_225_600_000)

    @Test func `a notification and all that is signed in it must be Apple's and this app's`() throws
    {
        let source = try fixture("apple-notifications")
        let connector = try apple(source, ["com.first", "com.example"])
        let vectors = try #require(source["vectors"]?.array)
        #expect(vectors.count == 17)
        for vector in vectors {
            let id = vector["id"]?.string ?? ""
            let body = try #require(vector["body"]).bytes
            switch connector.authenticate(headers: [], body: body, now: now) {
            case .accepted: #expect(vector["refusal"]?.isNull == true, "\(id)")
            case .refused(let refusal):
                let word = try #require(vector["refusal"]?.string, "\(id): \(refusal)")
                #expect(refusal.description.contains(word), "\(id): \(refusal)")
            }
        }
        for text in ["", "[]", "{", "{\"signedPayload\": null}"] {
            let outcome = connector.authenticate(headers: [], body: Array(text.utf8), now: now)
            #expect(outcome != .accepted, "\(text)")
        }
    }

    @Test func `a notification becomes the event of its transaction`() throws {
        let source = try fixture("apple-notifications")
        let body = try #require(source["vectors"]?.array?.first?["body"]).bytes
        let event = try apple(source).event(
            body: body, receivedAt: now, providerEventID: "u")
        #expect(event.name == "subscription.renewed")
        #expect(event.providerType == "DID_RENEW")
        #expect(event.person.id == "7e3fb20b-4cdb-47cc-936d-99d65f608138")
        #expect(event.environment == "production")
        #expect(event.providerApp == "com.example")
        #expect(event.properties["price"] == ["amount": "9.99", "currency": "EUR"])
        #expect(event.properties["subscription_key"] == "1000")
        #expect(event.properties["is_family_share"] == false)
        #expect(event.raw["data"]?["signedTransactionInfo"]?["productId"] == "pro.monthly")
    }

    @Test func `push tokens are judged by signature, audience, address, issuer and time`() throws {
        let source = try fixture("push-tokens")
        let keys = PublishedKeys(try #require(source["keys"].flatMap { JSONWebKeySet($0) }))
        let connector = try google(source, keys)
        let at = Instant(milliseconds: try #require(source["now"]?.integer) * 1_000)
        let vectors = try #require(source["vectors"]?.array)
        #expect(vectors.count == 20)
        for vector in vectors {
            let id = vector["id"]?.string ?? ""
            let token = try #require(vector["token"]?.string)
            let headers = [(name: "authorization", value: "bearer " + token)]
            switch connector.authenticate(headers: headers, body: [], now: at) {
            case .accepted: #expect(vector["refusal"]?.isNull == true, "\(id)")
            case .refused(let refusal):
                let word = try #require(vector["refusal"]?.string, "\(id): \(refusal)")
                #expect(refusal.description.contains(word), "\(id): \(refusal)")
            }
        }
        for value in ["", "Bearer", "Bearer x", "Basic a.b.c", "Bearer a.b.c d"] {
            let headers = [(name: "Authorization", value: value)]
            #expect(connector.authenticate(headers: headers, body: [], now: at) != .accepted)
        }
    }

    private func google(_ source: JSONValue, _ keys: PublishedKeys) throws -> Connector {
        let sender = PushSender(
            audience: try #require(source["audience"]?.string),
            email: try #require(source["email"]?.string), keys: keys)
        return try Connector(
            name: "play", provider: try #require(ProviderDefinition.shipped(named: "google")),
            authentication: [
                Authentication(
                    scheme: .googleOIDC, secrets: [], tolerance: .seconds(60), pushSender: sender)
            ])
    }

    @Test func `without keys the sender is to try again, and the last good set is kept`() throws {
        let source = try fixture("push-tokens")
        let keys = PublishedKeys(address: "https://keys.example.com/certs")
        let connector = try google(source, keys)
        let token = try #require(source["vectors"]?.array?.first?["token"]?.string)
        let headers = [(name: "Authorization", value: "Bearer " + token)]
        let at = Instant(milliseconds: try #require(source["now"]?.integer) * 1_000)
        guard
            case .refused(let refusal) = connector.authenticate(headers: headers, body: [], now: at)
        else {
            Issue.record("taken without keys")
            return
        }
        #expect(refusal.isTemporary)
        #expect(keys.takeWish())
        #expect(keys.take(try #require(source["keys"]).bytes))
        #expect(connector.authenticate(headers: headers, body: [], now: at) == .accepted)
        for answer in ["", "<html>", "{}", "{\"keys\": []}"] {
            #expect(!keys.take(Array(answer.utf8)))
        }
        #expect(connector.authenticate(headers: headers, body: [], now: at) == .accepted)
        #expect(!keys.takeWish())
        let stranger = try #require(
            source["vectors"]?.array?.first { $0["id"] == "an unknown key" }?["token"]?.string)
        _ = connector.authenticate(
            headers: [(name: "Authorization", value: "Bearer " + stranger)], body: [], now: at)
        #expect(keys.takeWish())
        #expect(!keys.takeWish())
        let next = PublishedKeys(address: "https://keys.example.com/certs")
        next.adopt(keys)
        #expect(next.current == keys.current)
        let elsewhere = PublishedKeys(address: "https://other.example.com/certs")
        elsewhere.adopt(keys)
        #expect(elsewhere.current == nil)
    }

    @Test func `what a signed scheme needs besides a secret stops the start when it is missing`()
        throws
    {
        func reason(
            _ provider: String, _ entry: Authentication
        ) throws -> ConnectorError.Reason? {
            let definition = try #require(ProviderDefinition.shipped(named: provider))
            do throws(ConnectorError) {
                _ = try Connector(name: "c", provider: definition, authentication: [entry])
                return nil
            } catch {
                #expect(error.description.hasPrefix("connector \"c\", scheme \""))
                return error.reason
            }
        }
        let bare = Authentication(scheme: .appleJWS, secrets: [])
        #expect(try reason("apple", bare) == .missingSecret)
        let nobody = Authentication(
            scheme: .appleJWS, secrets: [], appleApp: AppleApp(bundleIDs: []))
        #expect(try reason("apple", nobody) == .missingSecret)
        let secret = Authentication(
            scheme: .appleJWS, secrets: [SharedSecret("x")],
            appleApp: AppleApp(bundleIDs: ["a"]))
        #expect(try reason("apple", secret) == .tooManySecrets)
        let push = Authentication(scheme: .googleOIDC, secrets: [])
        #expect(try reason("google", push) == .missingSecret)
        let keys = PublishedKeys(address: PublishedKeys.googleAddress)
        let anyone = Authentication(
            scheme: .googleOIDC, secrets: [],
            pushSender: PushSender(audience: "a", email: "", keys: keys))
        #expect(try reason("google", anyone) == .missingSecret)
        let bearer = Authentication(scheme: .bearer, secrets: [SharedSecret("long-enough")])
        #expect(try reason("apple", bearer) == .schemeNotOffered)
    }
}
