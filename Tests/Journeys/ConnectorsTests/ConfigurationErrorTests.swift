import Connectors
import Crypto
import Testing

struct ConfigurationErrorTests {
    private func error(
        _ provider: String, _ entries: [Authentication], name: String = "shop",
        unknownEnvironment: String = "sandbox", allowsUnauthenticated: Bool = false
    ) throws -> ConnectorError? {
        let definition = try #require(ProviderDefinition.shipped(named: provider))
        do throws(ConnectorError) {
            _ = try Connector(
                name: name, provider: definition, authentication: entries,
                unknownEnvironment: unknownEnvironment,
                allowsUnauthenticated: allowsUnauthenticated)
            return nil
        } catch {
            return error
        }
    }

    private func entry(_ scheme: AuthenticationScheme, _ secrets: String...) -> Authentication {
        Authentication(
            scheme: scheme, secrets: secrets.map { SharedSecret($0, origin: "variable KEY") })
    }

    private static let secrets: [(AuthenticationScheme, String, ConnectorError.Reason)] = [
        (.authorization, "", .missingSecret), (.authorization, "short", .secretTooShort),
        (.authorization, "with a line break\n", .malformedSecret),
        (.authorization, " leading-blank", .malformedSecret),
        (.authorization, "inner\u{0}nul", .malformedSecret),
        (.basic, "nocolon-here", .malformedSecret), (.basic, ":nobody-4711", .malformedSecret),
        (.basic, "username:", .malformedSecret), (.basic, "a:b", .secretTooShort),
        (.revenueCatHMAC, "whsec_short", .secretTooShort),
    ]

    @Test(arguments: secrets)
    func `a wrong secret stops the start with a reason`(
        scheme: AuthenticationScheme, secret: String, reason: ConnectorError.Reason
    ) throws {
        let error = try #require(try error("revenuecat", [entry(scheme, secret)]))
        #expect(error.reason == reason)
        #expect(error.scheme == scheme)
        #expect(error.description.hasPrefix("connector \"shop\", scheme \"\(scheme.rawValue)\": "))
        #expect(error.description.contains("variable KEY"))
        #expect(secret.isEmpty || !error.description.contains(secret))
    }

    private static let webhookSecrets: [(String, ConnectorError.Reason)] = [
        ("whsec_!!!!", .malformedSecret), ("whsec_", .malformedSecret),
        ("v1,whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz", .malformedSecret),
        ("whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=", .secretTooShort),
        ("whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI", .malformedSecret),
        ("whpk_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz", .malformedSecret),
        ("whsk_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz", .malformedSecret),
        ("whsec_MDEyMzQ1Njc4OTAxMjM0 NTY3ODkwMTIz", .malformedSecret),
    ]

    @Test(arguments: webhookSecrets)
    func `a secret that is no key of Standard Webhooks stops the start`(
        secret: String, reason: ConnectorError.Reason
    ) throws {
        let error = try error("superwall", [entry(.standardWebhooks, secret)])
        #expect(error?.reason == reason)
    }

    @Test func `24 bytes of key are enough, with or without the prefix`() throws {
        let key = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"
        #expect(try error("superwall", [entry(.standardWebhooks, "whsec_" + key)]) == nil)
        #expect(try error("superwall", [entry(.standardWebhooks, key)]) == nil)
    }

    @Test func `nothing configured is refused`() throws {
        #expect(try error("revenuecat", [])?.reason == .noAuthentication)
        #expect(try error("revenuecat", [entry(.authorization)])?.reason == .missingSecret)
    }

    @Test func `three live secrets are one too many`() throws {
        let three = entry(.authorization, "aaaaaaaa", "bbbbbbbb", "cccccccc")
        #expect(try error("revenuecat", [three])?.reason == .tooManySecrets)
    }

    @Test func `two entries for one header are refused`() throws {
        let first = entry(.authorization, "aaaaaaaa")
        #expect(try error("revenuecat", [first, first])?.reason == .schemesCollide)
        let second = entry(.bearer, "bbbbbbbb")
        #expect(try error("revenuecat", [first, second])?.reason == .schemesCollide)
    }

    @Test func `a scheme that the provider does not send is refused`() throws {
        let error = try error("superwall", [entry(.revenueCatHMAC, "0123456789abcdef")])
        #expect(error?.reason == .schemeNotOffered)
        #expect(
            error?.description == "connector \"shop\", scheme \"revenuecat-hmac\": Superwall sends "
                + "none such; use standard-webhooks, authorization, bearer")
    }

    @Test func `unauthenticated deliveries need the caller's word and stand alone`() throws {
        let none = entry(.none)
        #expect(try error("revenuecat", [none])?.reason == .unauthenticatedListener)
        #expect(try error("revenuecat", [none], allowsUnauthenticated: true) == nil)
        let both = [none, entry(.authorization, "aaaaaaaa")]
        let mixed = try error("revenuecat", both, allowsUnauthenticated: true)
        #expect(mixed?.reason == .unauthenticatedListener)
    }

    @Test func `a tolerance of nothing or of days is refused`() throws {
        for seconds in [0, -1, 86_401] {
            var entry = entry(.revenueCatHMAC, "0123456789abcdef")
            entry.tolerance = .seconds(seconds)
            #expect(try error("revenuecat", [entry])?.reason == .toleranceOutOfRange)
        }
    }

    @Test func `names are checked`() throws {
        let good = [entry(.authorization, "aaaaaaaa")]
        for name in ["", "Shop", "a/b", "-a", String(repeating: "a", count: 64)] {
            #expect(try error("revenuecat", good, name: name)?.reason == .malformedName)
            let environment = try error("revenuecat", good, unknownEnvironment: name)
            #expect(environment?.reason == .malformedEnvironment)
        }
        #expect(
            try error("revenuecat", good, name: "rc_eu-1", unknownEnvironment: "staging") == nil)
    }
}
