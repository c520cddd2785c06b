import Connectors
import Crypto
import Testing
import TimeZones

/// Stripe, Paddle, Lemon Squeezy and Purchasely: hexadecimal codes under the secret's text.
struct HexadecimalSignatureTests {
    private let now = Instant(milliseconds: 1_700_000_000_000)
    private let body = Array("{\"id\":\"1\"}".utf8)

    private func connector(_ provider: String, _ secrets: String...) throws -> Connector {
        let definition = try #require(ProviderDefinition.shipped(named: provider))
        return try Connector(
            name: "c", provider: definition,
            authentication: [
                Authentication(
                    scheme: definition.usualScheme, secrets: secrets.map { SharedSecret($0) })
            ])
    }

    private func code(_ key: String, _ head: String) -> String {
        Hex.encode(HMACSHA256.authenticate(Array(head.utf8) + body, key: Array(key.utf8)))
    }

    private func isTaken(
        _ connector: Connector, _ headers: (String, String)..., at: Instant? = nil
    ) -> Bool {
        let fields = headers.map { (name: $0.0, value: $0.1) }
        return connector.authenticate(headers: fields, body: body, now: at ?? now) == .accepted
    }

    private let old = "whsec_the-old-secret"
    private let new = "whsec_the-new-secret"

    @Test func `Stripe's header is taken under either live secret and in any order of its parts`()
        throws
    {
        let connector = try connector("stripe", old, new)
        for key in [old, new] {
            let good = code(key, "1700000000.")
            for value in [
                "t=1700000000,v1=\(good)", "v1=\(good),t=1700000000",
                "t=1700000000,v1=\(code("other", "1700000000.")),v1=\(good),v0=abc",
                "t=1700000000,v1=potato,v1=\(good)", "t=1700000000,v1=\(good),x9=1",
            ] {
                #expect(isTaken(connector, ("Stripe-Signature", value)), "\(value)")
            }
        }
    }

    @Test func `a header of another form, time or key is refused`() throws {
        let connector = try connector("stripe", old)
        let good = code(old, "1700000000.")
        for value in [
            "", "t=1700000000", "v1=\(good)", "t=,v1=\(good)", "t=1700000000,v0=\(good)",
            "t=1700000000,t=1700000000,v1=\(good)", "t=1700000000, v1=\(good)",
            "t=1700000000;v1=\(good)", "t=1700000000,v1=\(good.uppercased())",
            "t=1700000000,v1=\(good),", "t=1700000000,v1=\(good.dropLast())", "t=1700000000,=1",
            "t=1700000001,v1=\(good)", "t=01700000000,v1=\(good)", "t=-1,v1=\(good)",
            "t=1700000000,v1=\(code(new, "1700000000."))", "t=1700000000,v1=\(code(old, ""))",
            "t=1700000000," + [String](repeating: "v1=\(good)", count: 9).joined(separator: ","),
        ] {
            #expect(!isTaken(connector, ("stripe-signature", value)), "\(value)")
        }
        let header = ("stripe-signature", "t=1700000000,v1=\(good)")
        #expect(!isTaken(connector, header, header))
        for (offset, wanted) in [(-300, true), (300, true), (-301, false), (301, false)] {
            let at = now + .seconds(offset)
            #expect(isTaken(connector, header, at: at) == wanted, "\(offset)")
        }
    }

    @Test func `Paddle signs the time with a colon and parts its header with semicolons`() throws {
        let connector = try connector("paddle", "pdl_ntfset_old", "pdl_ntfset_new")
        let good = code("pdl_ntfset_new", "1700000000:")
        #expect(isTaken(connector, ("Paddle-Signature", "ts=1700000000;h1=\(good)")))
        #expect(isTaken(connector, ("Paddle-Signature", "ts=1700000000;h1=dummy;h1=\(good);h2=x")))
        #expect(!isTaken(connector, ("Paddle-Signature", "ts=1700000000,h1=\(good)")))
        #expect(!isTaken(connector, ("Paddle-Signature", "t=1700000000;h1=\(good)")))
        let dotted = code("pdl_ntfset_new", "1700000000.")
        #expect(!isTaken(connector, ("Paddle-Signature", "ts=1700000000;h1=\(dotted)")))
    }

    @Test func `Lemon Squeezy signs the body alone`() throws {
        let connector = try connector("lemonsqueezy", "secret-1", "secret-2")
        let good = code("secret-2", "")
        #expect(isTaken(connector, ("X-Signature", good)))
        #expect(isTaken(connector, ("X-Signature", good), at: .latest))
        for value in ["", good.uppercased(), " " + good, "sha256=" + good, code("secret-3", "")] {
            #expect(!isTaken(connector, ("X-Signature", value)), "\(value)")
        }
    }

    @Test func `Purchasely signs the timestamp's text before the body`() throws {
        let definition = try #require(ProviderDefinition.shipped(named: "purchasely"))
        // The public example, whose secret is too short for this product, has the same form.
        let example = HMACSHA256.authenticate(
            Array("1698322022{\"a_random_key\":\"a_random_value_ad\"}".utf8),
            key: Array("foobar".utf8))
        #expect(
            Hex.encode(example)
                == "f3c2a452e9ea72f41107321aeaf7999f1054148866a710c9b23f9f501785e2a4")
        #expect(throws: ConnectorError.self) {
            try Connector(
                name: "p", provider: definition,
                authentication: [
                    Authentication(scheme: .purchasely, secrets: [SharedSecret("foobar")])
                ])
        }
        let connector = try connector("purchasely", "foobar-foobar")
        let good = code("foobar-foobar", "1700000000")
        let signature = ("X-PURCHASELY-REQUEST-SIGNATURE", good)
        #expect(isTaken(connector, signature, ("X-PURCHASELY-TIMESTAMP", "1700000000")))
        #expect(!isTaken(connector, signature, ("X-PURCHASELY-TIMESTAMP", "1700000001")))
        #expect(!isTaken(connector, signature))
        let header = ("X-PURCHASELY-TIMESTAMP", "1700000000")
        #expect(!isTaken(connector, signature, header, at: now + .seconds(301)))
    }
}
