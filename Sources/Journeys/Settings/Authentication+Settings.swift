internal import Configuration
internal import Connectors
internal import Crypto
internal import JSON

extension Authentication {
    /// Reads one entry of `authenticate`; nil when something in it cannot be had, which was then noted
    /// on the reader.
    init?(_ reader: ConfigurationReader, place: String) {
        let scheme = reader.choice("scheme", default: AuthenticationScheme.authorization)
        let isPush = scheme == .googleOIDC
        let tolerance = reader.duration(
            "tolerance", in: .seconds(1) ... .seconds(86_400),
            default: isPush ? .seconds(60) : Authentication.usualTolerance)
        var secrets: [SharedSecret] = []
        var isUsable = true
        for key in scheme.hasSecrets ? ["secret", "next_secret"] : [] {
            if let secret = reader.secret(key) {
                secrets.append(
                    SharedSecret(secret.revealed, origin: Self.origin(of: key, in: reader)))
            } else if reader.has(key) {
                isUsable = false
            }
        }
        var appleApp: AppleApp?
        if scheme == .appleJWS {
            appleApp = AppleApp(reader, place: place)
            if appleApp == nil { isUsable = false }
        }
        var pushSender: PushSender?
        if isPush {
            pushSender = PushSender(reader)
            if pushSender == nil { isUsable = false }
        }
        guard isUsable else { return nil }
        self.init(
            scheme: scheme, secrets: secrets, tolerance: tolerance, appleApp: appleApp,
            pushSender: pushSender)
    }

    /// Where a secret was read, for errors that must not show it.
    private static func origin(of key: String, in reader: ConfigurationReader) -> String {
        let source = reader.value(key)
        if let variable = source?["env"]?.string { return "variable \(variable)" }
        if let file = source?["file"]?.string { return "file \(file)" }
        return "\(reader.pointer.appending(key))"
    }
}

extension AppleApp {
    /// `bundle_id` or `bundle_ids`, `app_apple_id`, `environments`, and `roots` in place of Apple's.
    fileprivate init?(_ reader: ConfigurationReader, place: String) {
        let bundles =
            (reader.string("bundle_id").map { [$0] } ?? [])
            + (reader.stringArray("bundle_ids", limit: 64) ?? [])
        let number = reader.integer("app_apple_id", in: 1...Int.max)
        let environments =
            reader.stringArray("environments", limit: 8) ?? ["Production", "Sandbox"]
        var signatures = AppleSignatures.appStore
        if let files = reader.stringArray("roots", limit: 8) {
            var roots: [[UInt8]] = []
            for file in files {
                guard let root = Self.root(in: WorkerSettings.resolved(file, beside: place)) else {
                    reader.problem(
                        "roots",
                        "The file \(file) holds no certificate in PEM or DER; name one that does.")
                    return nil
                }
                roots.append(root)
            }
            signatures = AppleSignatures(roots: roots)
        }
        self.init(
            bundleIDs: bundles, appleID: number.map(Int64.init), environments: environments,
            signatures: signatures)
    }

    private static func root(in path: String) -> [UInt8]? {
        guard let bytes = try? BoundedFile.read(path, limit: 65_536) else { return nil }
        if bytes.first == 0x30 { return bytes }
        let lines = bytes.split { $0 == 0x0a || $0 == 0x0d }
        let encoded = lines.filter { $0.first != UInt8(ascii: "-") }.flatMap(\.self)
        return Base64.decode(encoded)
    }
}

extension PushSender {
    /// `audience`, `email`, and `keys` or `keys_url` in place of Google's published ones.
    fileprivate init?(_ reader: ConfigurationReader) {
        let audience = reader.string("audience", default: "")
        let email = reader.string("email", default: "")
        let address = reader.string("keys_url")
        let source = reader.value("keys")
        let keys: PublishedKeys
        if let source {
            guard let fixed = JSONWebKeySet(source) else {
                reader.problem(
                    "keys",
                    "It must be a key set, {\"keys\": […]}, with a key for RS256 that has a \"kid\"."
                )
                return nil
            }
            keys = PublishedKeys(fixed)
        } else {
            let chosen = address ?? PublishedKeys.googleAddress
            let isPlain = chosen.hasPrefix("http://127.0.0.1:")
            guard chosen.hasPrefix("https://") || isPlain else {
                reader.problem(
                    "keys_url", "Keys are fetched over https only; write such an address.")
                return nil
            }
            keys = PublishedKeys(address: chosen)
        }
        self.init(audience: audience, email: email, keys: keys)
    }
}
