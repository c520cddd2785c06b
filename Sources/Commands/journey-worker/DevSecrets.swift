internal import Configuration
internal import Crypto
internal import Glibc
internal import JSON

/// The demo connectors' secrets: made once, kept in the data folder.
struct DevSecrets {
    /// What RevenueCat's dashboard would hold as the `Authorization` value.
    let revenueCat: String
    /// A Standard Webhooks secret.
    let superwall: String

    /// Reads the secrets of a data folder, or makes them.
    static func keep(in folder: String) throws -> DevSecrets {
        let path = folder + "/demo-secrets.json"
        if BoundedFile.exists(path) {
            let stored = try JSONParser.parse(try BoundedFile.read(path, limit: 65_536))
            if let revenueCat = stored["revenuecat"]?.string,
                let superwall = stored["superwall"]?.string
            {
                return DevSecrets(revenueCat: revenueCat, superwall: superwall)
            }
        }
        let made = DevSecrets(
            revenueCat: "Bearer " + Hex.encode(randomBytes(16)),
            superwall: "whsec_" + Base64.encode(randomBytes(24)))
        let json: JSONValue = [
            "revenuecat": .string(made.revenueCat), "superwall": .string(made.superwall),
        ]
        try PrivateFile.write(Array((json.pretty + "\n").utf8), to: path)
        return made
    }

    /// The configuration that `dev` runs with.
    func configuration(
        database: String, ingest: String, admin: String, receiverPort: UInt16
    ) -> ConfigurationSource {
        let account: (String) -> JSONValue = { path in
            [
                "tool": "http", "base_url": .string("http://127.0.0.1:\(receiverPort)\(path)"),
                "allow_private": true, "secret": .string(superwall),
            ]
        }
        var messages = account("/lifecycle").object ?? JSONObject()
        messages["messaging"] = true
        messages["channel"] = "email"
        let slack: JSONValue = [
            "tool": "slack", "url": .string("http://127.0.0.1:\(receiverPort)/slack"),
            "allow_private": true,
        ]
        let json: JSONValue = [
            "allow_literal_secrets": true,
            "database": ["url": .string(database), "pool": 8],
            "listen": ["ingest": .string(ingest), "admin": .string(admin)],
            "connectors": [
                "revenuecat": [
                    "provider": "revenuecat",
                    "authenticate": [
                        ["scheme": "authorization", "secret": .string(revenueCat)]
                    ],
                ],
                "superwall": [
                    "provider": "superwall",
                    "authenticate": [
                        ["scheme": "standard-webhooks", "secret": .string(superwall)]
                    ],
                ],
            ],
            "accounts": [
                "crm": account("/crm"), "ops-hook": account("/ops"),
                "lifecycle": .object(messages), "team-slack": slack,
            ],
            "sources": ["backend": ["token": .string(superwall)]],
            "worker": ["poll": "PT0.25S"],
            "log": ["format": "text", "customer_ids": "plain"],
        ]
        return ConfigurationSource(bytes: json.bytes, environment: [:], place: "dev's settings")
    }
}

/// A file that only its owner may read.
enum PrivateFile {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Writes a file whole: who reads it sees the old text or the new one.
    static func write(_ bytes: [UInt8], to path: String) throws(Failure) {
        let draft = path + ".new"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(path) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else {
                close(descriptor)
                throw failure(path)
            }
            rest = rest.dropFirst(written)
        }
        close(descriptor)
        guard rename(draft, path) == 0 else { throw failure(path) }
    }

    private static func failure(_ path: String) -> Failure {
        Failure(
            description: "the file \(path) cannot be written: "
                + "\(String(cString: strerror(errno))); make its folder writable")
    }
}
