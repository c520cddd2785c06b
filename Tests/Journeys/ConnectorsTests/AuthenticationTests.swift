import Connectors
import Crypto
import Testing
import TimeZones

struct AuthenticationTests {
    private let now = Instant(milliseconds: 1_772_442_000_000)
    private let seconds: Int64 = 1_772_442_000
    private let body = Array("{\"event\": {}}".utf8)

    private func connector(
        _ provider: String, _ entries: [Authentication]
    ) throws -> Connector {
        try Connector(
            name: "shop", provider: try #require(ProviderDefinition.shipped(named: provider)),
            authentication: entries)
    }

    private func entry(
        _ scheme: AuthenticationScheme, _ secrets: String..., tolerance: Duration = .seconds(300)
    ) -> Authentication {
        Authentication(
            scheme: scheme, secrets: secrets.map { SharedSecret($0) }, tolerance: tolerance)
    }

    private func cause(
        _ connector: Connector, _ headers: [(name: String, value: String)], body: [UInt8]? = nil,
        now: Instant? = nil
    ) -> AuthenticationRefusal.Cause? {
        let outcome = connector.authenticate(
            headers: headers, body: body ?? self.body, now: now ?? self.now)
        switch outcome {
        case .accepted: return nil
        case .refused(let refusal): return refusal.cause
        }
    }

    private func revenueCat(_ key: String, at seconds: Int64) -> String {
        let signed = Array("\(seconds).".utf8) + body
        let code = HMACSHA256.authenticate(signed, key: Array(key.utf8))
        return "t=\(seconds),v1=" + Hex.encode(code)
    }

    private let signing = "whsec_0123456789abcdef"
    private let header = "X-RevenueCat-Webhook-Signature"

    @Test func `a static value matches as a whole and in its case`() throws {
        let connector = try connector("revenuecat", [entry(.authorization, "Bearer abcdefgh")])
        #expect(cause(connector, [("authorization", "Bearer abcdefgh")]) == nil)
        #expect(cause(connector, [("AUTHORIZATION", "Bearer abcdefgh")]) == nil)
        for wrong in ["bearer abcdefgh", "Bearer abcdefg", "Bearer abcdefghi", "abcdefgh"] {
            #expect(cause(connector, [("Authorization", wrong)]) == .mismatch)
        }
        #expect(cause(connector, []) == .missingHeader)
        #expect(cause(connector, [("Authorization", "")]) == .missingHeader)
    }

    @Test func `a header that stands twice is refused even when both are right`() throws {
        let connector = try connector("revenuecat", [entry(.authorization, "abcdefgh")])
        let twice = [("Authorization", "abcdefgh"), ("authorization", "abcdefgh")]
        #expect(cause(connector, twice.map { (name: $0.0, value: $0.1) }) == .duplicateHeader)
    }

    @Test func `a bearer token follows its word and one blank`() throws {
        let connector = try connector("superwall", [entry(.bearer, "abcdefgh")])
        #expect(cause(connector, [("Authorization", "Bearer abcdefgh")]) == nil)
        #expect(cause(connector, [("Authorization", "bearer abcdefgh")]) == nil)
        #expect(cause(connector, [("Authorization", "Bearer abcdefgi")]) == .mismatch)
        for wrong in ["abcdefgh", "Bearer", "Bearer ", "Bearer  abcdefgh", "Basic abcdefgh"] {
            #expect(cause(connector, [("Authorization", wrong)]) == .malformedHeader)
        }
    }

    @Test func `basic credentials are compared decoded, and strictly`() throws {
        let connector = try connector("revenuecat", [entry(.basic, "hook:p:a:ss")])
        #expect(cause(connector, [("Authorization", "Basic aG9vazpwOmE6c3M=")]) == nil)
        #expect(cause(connector, [("Authorization", "Basic aG9vazpub3Bl")]) == .mismatch)
        for wrong in ["Basic aG9vazpwOmE6c3M", "Basic %%%", "Basic", "Basic aG9vazpwOmE6c3M= "] {
            #expect(cause(connector, [("Authorization", wrong)]) == .malformedHeader)
        }
    }

    @Test func `either of two live secrets is taken during a rotation`() throws {
        let statics = try connector("revenuecat", [entry(.authorization, "old-value", "new-value")])
        #expect(cause(statics, [("Authorization", "old-value")]) == nil)
        #expect(cause(statics, [("Authorization", "new-value")]) == nil)
        let signed = try connector(
            "revenuecat", [entry(.revenueCatHMAC, "old-0123456789abcdef", "new-0123456789abcdef")])
        for key in ["old-0123456789abcdef", "new-0123456789abcdef"] {
            #expect(cause(signed, [(header, revenueCat(key, at: seconds))]) == nil)
        }
        #expect(cause(signed, [(header, revenueCat("other", at: seconds))]) == .mismatch)
    }

    @Test func `all listed schemes must hold`() throws {
        let connector = try connector(
            "revenuecat", [entry(.authorization, "abcdefgh"), entry(.revenueCatHMAC, signing)])
        let right = (name: header, value: revenueCat(signing, at: seconds))
        #expect(cause(connector, [right, (name: "Authorization", value: "abcdefgh")]) == nil)
        #expect(cause(connector, [right]) == .missingHeader)
        #expect(cause(connector, [(name: "Authorization", value: "abcdefgh")]) == .missingHeader)
        let wrong = (name: "Authorization", value: "abcdefgx")
        #expect(cause(connector, [right, wrong]) == .mismatch)
    }

    @Test func `the tolerance includes both its edges and no second more`() throws {
        for tolerance in [Int64(1), 300, 86_400] {
            let connector = try connector(
                "revenuecat", [entry(.revenueCatHMAC, signing, tolerance: .seconds(tolerance))])
            func judged(_ offset: Int64) -> AuthenticationRefusal.Cause? {
                cause(connector, [(header, revenueCat(signing, at: seconds + offset))])
            }
            #expect(judged(tolerance) == nil)
            #expect(judged(-tolerance) == nil)
            #expect(judged(tolerance + 1) == .timestampTooNew)
            #expect(judged(-tolerance - 1) == .timestampTooOld)
        }
    }

    @Test func `a RevenueCat signature of another form is refused`() throws {
        let connector = try connector("revenuecat", [entry(.revenueCatHMAC, signing)])
        let right = revenueCat(signing, at: seconds)
        let code = String(right.suffix(64))
        #expect(cause(connector, [(header, right)]) == nil)
        #expect(
            cause(connector, [(header, right + ",v1=" + String(repeating: "0", count: 64))]) == nil)
        #expect(cause(connector, [(header, right + ",v2=zz")]) == nil)
        let wrong = [
            "t=\(seconds)", "v1=\(code)", "t=\(seconds), v1=\(code)", "t=+\(seconds),v1=\(code)",
            "t=-\(seconds),v1=\(code)", "t=\(seconds).0,v1=\(code)", "t=,v1=\(code)",
            "t=\(seconds),t=\(seconds),v1=\(code)", "t=\(seconds),v1=\(code.uppercased())",
            "t=\(seconds),v1=\(code)00", "t=\(seconds),v1=", "\(seconds),\(code)", "=,=", ",",
            "t=999999999999999999999,v1=\(code)",
            "t=\(seconds)" + String(repeating: ",v1=\(code)", count: 9),
        ]
        for value in wrong {
            #expect(cause(connector, [(header, value)]) == .malformedHeader, "\(value)")
        }
        #expect(cause(connector, [(header, right)], body: body + [0x0a]) == .mismatch)
    }

    @Test func `Standard Webhooks takes one right signature in either family`() throws {
        let secret = "whsec_" + Base64.encode(Array("012345678901234567890123".utf8))
        let connector = try connector("superwall", [entry(.standardWebhooks, secret)])
        let key = try #require(StandardWebhooksSignature.key(fromSecret: secret))
        let right = StandardWebhooksSignature.sign(
            id: "msg_1", timestampSeconds: seconds, body: body, key: key)
        func headers(_ family: String, _ list: String) -> [(name: String, value: String)] {
            [
                ("\(family)-id", "msg_1"), ("\(family)-timestamp", "\(seconds)"),
                ("\(family)-signature", list),
            ]
        }
        for family in ["webhook", "svix", "Svix", "WEBHOOK"] {
            #expect(cause(connector, headers(family, right)) == nil)
        }
        #expect(
            cause(connector, headers("webhook", "v1,AAAA v2,x v1a,\(right) nonsense \(right)"))
                == nil)
        #expect(cause(connector, headers("webhook", "v1,AAAA")) == .mismatch)
        #expect(cause(connector, headers("webhook", String(right.dropLast()))) == .mismatch)
        let many = Array(repeating: "v1,AAAA", count: 16).joined(separator: " ") + " " + right
        #expect(cause(connector, headers("webhook", many)) == .malformedHeader)
        let mixed = Array(headers("webhook", right).dropLast()) + [("svix-signature", right)]
        #expect(cause(connector, mixed) == .missingHeader)
        #expect(
            cause(connector, headers("webhook", right) + [("Webhook-ID", "x")]) == .duplicateHeader)
    }

    @Test func `a public key is never a symmetric one`() throws {
        let bytes = [UInt8](repeating: 7, count: 32)
        let connector = try connector(
            "superwall", [entry(.standardWebhooks, "whpk_" + Base64.encode(bytes))])
        let forged = StandardWebhooksSignature.sign(
            id: "msg_1", timestampSeconds: seconds, body: body, key: bytes)
        let headers = [
            (name: "webhook-id", value: "msg_1"), (name: "webhook-timestamp", value: "\(seconds)"),
            (name: "webhook-signature", value: forged),
        ]
        #expect(cause(connector, headers) == .mismatch)
    }

    @Test func `a refusal's sentence holds no secret and no header value`() throws {
        let connector = try connector("revenuecat", [entry(.authorization, "abcdefgh")])
        let outcome = connector.authenticate(
            headers: [("Authorization", "guessed")], body: body, now: now)
        guard case .refused(let refusal) = outcome else {
            Issue.record("was accepted")
            return
        }
        #expect(
            refusal.description
                == "authorization: authorization matches no configured secret")
        #expect("\(SharedSecret("abcdefgh", origin: "variable X"))" == "secret from variable X")
        #expect(String(reflecting: SharedSecret("abcdefgh")) == "secret from the configuration")
    }
}
