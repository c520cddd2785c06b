import Connectors
import Crypto
import JSON
import Testing
import TimeZones

struct AppleVectorTests {
    @Test func `Apple's own test chains and its real one are judged as the cases say`() throws {
        guard let folder = ConformanceFolder() else { return }
        let vectors = try folder.json("vectors/apple_chain.json")
        let cases = try #require(vectors["cases"]?.array)
        func certificate(_ name: JSONValue?) throws -> [UInt8] {
            let name = try #require(name?.string)
            return try #require(
                vectors["certificates"]?[name]?.string.flatMap { Base64.decode($0) })
        }
        for item in cases {
            let id = item["id"]?.string ?? ""
            let roots = item["root"]?.isNull == false ? [try certificate(item["root"])] : []
            let chain = [
                try certificate(item["leaf"]), try certificate(item["intermediate"]),
                roots.first ?? [],
            ]
            let at = try #require(item["effective_ms"]?.integer)
            let judge = AppleSignatures(roots: roots)
            if item["expect"]?.string == "ok" {
                let key = try judge.key(ofChain: chain, atMilliseconds: at)
                if item["leaf_public_key_spki"] != nil {
                    let expected = try certificate(item["leaf_public_key_spki"])
                    #expect(key == SignatureKey(subjectPublicKeyInfo: expected), "\(id)")
                }
            } else {
                #expect(throws: ChainRefusal.self, "\(id)") {
                    try judge.key(ofChain: chain, atMilliseconds: at)
                }
            }
        }
        print("apple_chain: \(cases.count) cases checked")
        #expect(ExpectedCount(selection: 5, whole: 7).admits(cases.count))
    }

    @Test func `the shipped root is Apple's, and the real chain leads to it`() throws {
        guard let folder = ConformanceFolder() else { return }
        let certificates = try #require(
            try folder.json("vectors/apple_chain.json")["certificates"])
        let chain = try ["SIGNING_CERTIFICATE", "INTERMEDIATE", "ROOT"].map { name in
            try #require(
                certificates["REAL_APPLE_\(name)_BASE64_ENCODED"]?.string
                    .flatMap { Base64.decode($0) })
        }
        #expect(throws: Never.self) {
            try AppleSignatures.appStore.key(ofChain: chain, atMilliseconds: 1_761_962_975_000)
        }
    }

    /// A notification is judged as a connector judges it, with bundle, number and environment; a
    /// transaction or renewal alone by its signature.
    @Test(arguments: [
        ("apple_jws_official", ExpectedCount(selection: 2, whole: 9)),
        ("apple_jws_generated", ExpectedCount(selection: 9, whole: 19)),
    ])
    func `Apple's signed texts verify or are refused as listed`(
        file: String, count: ExpectedCount
    ) throws {
        guard let folder = ConformanceFolder() else { return }
        let source = try folder.json("vectors/\(file).json")
        let root = try #require(source["root_der_base64"]?.string.flatMap { Base64.decode($0) })
        let signatures = AppleSignatures(roots: [root])
        let now = Instant(milliseconds: 1_767_225_600_000)
        let vectors = try #require(source["vectors"]?.array)
        for vector in vectors {
            let id = vector["id"]?.string ?? ""
            let text = try #require(vector["jws"]?.string)
            let isAlone = ["transaction", "renewalInfo", "appTransaction"].contains(
                vector["kind"]?.string ?? "")
            let isTaken: Bool
            if isAlone {
                let verdict = signatures.verdict(on: text, nowMilliseconds: now.milliseconds)
                isTaken = if case .verified = verdict { true } else { false }
            } else {
                let connector = try connector(vector, source, signatures)
                let body: JSONValue = ["signedPayload": .string(text)]
                isTaken =
                    connector.authenticate(headers: [], body: body.bytes, now: now) == .accepted
            }
            #expect(isTaken == (vector["expect"]?.string == "ok"), "\(id)")
        }
        print("\(file): \(vectors.count) vectors checked")
        #expect(count.admits(vectors.count))
    }

    private func connector(
        _ vector: JSONValue, _ source: JSONValue, _ signatures: AppleSignatures
    ) throws -> Connector {
        func value(_ key: String) -> JSONValue? { vector[key] ?? source[key] }
        let app = AppleApp(
            bundleIDs: [try #require(value("bundle_id")?.string)],
            appleID: value("app_apple_id")?.integer,
            environments: [try #require(value("environment")?.string)], signatures: signatures)
        return try Connector(
            name: "apple", provider: try #require(ProviderDefinition.shipped(named: "apple")),
            authentication: [Authentication(scheme: .appleJWS, secrets: [], appleApp: app)])
    }

    @Test func `Google's push tokens are judged as the vectors say`() throws {
        guard let folder = ConformanceFolder() else { return }
        let source = try folder.json("vectors/google_oidc.json")
        let keys = try #require(source["jwks"].flatMap { JSONWebKeySet($0) })
        let sender = PushSender(
            audience: try #require(source["expected_audience"]?.string),
            email: try #require(source["expected_email"]?.string), keys: PublishedKeys(keys))
        let connector = try Connector(
            name: "google", provider: try #require(ProviderDefinition.shipped(named: "google")),
            authentication: [
                Authentication(
                    scheme: .googleOIDC, secrets: [], tolerance: .seconds(60), pushSender: sender)
            ])
        let now = Instant(milliseconds: try #require(source["now"]?.integer) * 1_000)
        let vectors = try #require(source["vectors"]?.array)
        for vector in vectors {
            let headers = (vector["headers"]?.object ?? JSONObject()).map {
                (name: $0.key, value: $0.value.string ?? "")
            }
            let outcome = connector.authenticate(headers: headers, body: [], now: now)
            let id = vector["id"]?.string ?? ""
            #expect((outcome == .accepted) == (vector["expect"]?.string == "ok"), "\(id)")
        }
        print("google_oidc: \(vectors.count) vectors checked")
        #expect(ExpectedCount(selection: 9, whole: 16).admits(vectors.count))
    }
}
