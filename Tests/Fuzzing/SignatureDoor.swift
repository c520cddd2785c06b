import Connectors
import Crypto
import FoundationEssentials
import JSON
import TimeZones

/// The first byte chooses a scheme; lines `name: value` up to an empty one are the headers; the rest is
/// the body.
struct SignatureDoor {
    static let shared = SignatureDoor()

    /// As the seeds are signed.
    static let secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"
    /// 2026-01-01T00:00:00Z, as the seeds are.
    static let now = Instant(milliseconds: 1_767_225_600_000)

    private let connectors: [(connector: Connector, signsBody: Bool)]

    private init() {
        connectors = AuthenticationScheme.allCases.filter { $0 != .none }.map { scheme in
            (
                Self.connector(scheme),
                ![.authorization, .bearer, .basic, .googleOIDC].contains(scheme)
            )
        }
    }

    func take(_ bytes: [UInt8]) {
        guard let first = bytes.first else { return }
        let (connector, signsBody) = connectors[Int(first) % connectors.count]
        let (headers, body) = Self.split(bytes.dropFirst())
        let outcome = connector.authenticate(headers: headers, body: body, now: Self.now)
        require(
            outcome == connector.authenticate(headers: headers, body: body, now: Self.now),
            "the same delivery was judged in two ways")
        switch outcome {
        case .refused(let refusal): require(!refusal.description.isEmpty, "no sentence")
        case .accepted:
            guard signsBody else { return }
            // Whatever was signed, it was not this.
            let other = connector.authenticate(
                headers: headers, body: [UInt8(ascii: "x")] + body, now: Self.now)
            require(other != .accepted, "a body that nobody signed was taken")
        }
    }

    private static func split(
        _ bytes: ArraySlice<UInt8>
    ) -> (headers: [(name: String, value: String)], body: [UInt8]) {
        var headers: [(name: String, value: String)] = []
        var rest = bytes
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let line = rest[rest.startIndex..<end]
            rest = rest[(end + 1)...]
            if line.isEmpty { return (headers, Array(rest)) }
            let name = line.prefix { $0 != UInt8(ascii: ":") }
            let value = line.dropFirst(name.count + 1).drop { $0 == UInt8(ascii: " ") }
            headers.append(
                (String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)))
        }
        return (headers, Array(rest))
    }

    // MARK: Connectors

    private static func connector(_ scheme: AuthenticationScheme) -> Connector {
        guard
            let provider = ProviderDefinition.shipped.first(where: { $0.schemes.contains(scheme) })
        else { fatalError("no provider sends \(scheme.rawValue)") }
        var entry = Authentication(
            scheme: scheme,
            secrets: scheme.hasSecrets
                ? [SharedSecret(scheme == .basic ? "user:password-1" : secret)] : [])
        if scheme == .appleJWS {
            guard let root = fixture("apple-notifications")["root"]?.string,
                let bytes = Base64.decode(root)
            else { fatalError("the fixture holds no root") }
            entry.appleApp = AppleApp(
                bundleIDs: ["com.example"], appleID: 1_234,
                signatures: AppleSignatures(roots: [bytes]))
        }
        if scheme == .googleOIDC {
            let tokens = fixture("push-tokens")
            guard let keys = tokens["keys"].flatMap({ JSONWebKeySet($0) }),
                let audience = tokens["audience"]?.string, let email = tokens["email"]?.string
            else { fatalError("the fixture holds no keys") }
            entry.pushSender = PushSender(
                audience: audience, email: email, keys: PublishedKeys(keys))
        }
        do throws(ConnectorError) {
            return try Connector(name: "fuzzed", provider: provider, authentication: [entry])
        } catch {
            fatalError("\(error)")
        }
    }

    private static func fixture(_ name: String) -> JSONValue {
        var url = URL(fileURLWithPath: #filePath)
        for _ in 0..<2 { url.deleteLastPathComponent() }
        url.append(path: "Fixtures/signatures/\(name).json")
        do {
            return try JSONParser.parse(Array(try Data(contentsOf: url)))
        } catch {
            fatalError("\(url.path): \(error)")
        }
    }
}
