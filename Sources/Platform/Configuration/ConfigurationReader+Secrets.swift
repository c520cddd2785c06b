internal import JSON

extension ConfigurationReader {
    /// The longest secret file: 64 KiB.
    package static let secretFileLimit = 65_536

    /// A secret, or nil when absent.
    ///
    /// Written `{"env": "NAME"}` or `{"file": "/path"}` (one line end at the end is cut), or given by
    /// the overriding variable. A literal string is refused unless the file says
    /// `"allow_literal_secrets": true`. An empty secret is a problem: it would open the door.
    package func secret(_ key: String) -> Secret? {
        switch source(key) {
        case .absent: return nil
        case .override(let variable, let text):
            if text.isEmpty {
                session.noteOverride(variable, "is empty.", at: pointer.appending(key))
            }
            return Secret(text)
        case .value(.string(let text)):
            guard session.allowsLiteralSecrets else {
                problem(
                    key,
                    "A secret does not belong in this file; write {\"env\": \"NAME\"} or "
                        + "{\"file\": \"/path\"}, or set \"\(ReadingSession.literalSecretsKey)\" to true."
                )
                return nil
            }
            return checked(key, text, "The secret")
        case .value(.object(let members)): return secret(key, from: members)
        case .value(let value): return mismatch(key, "{\"env\": …} or {\"file\": …}", value)
        }
    }

    /// A secret that must be there; an empty one stands in.
    package func requiredSecret(_ key: String) -> Secret {
        let before = session.problemCount
        if let secret = secret(key) { return secret }
        if session.problemCount == before {
            problem(
                key,
                "A secret is needed here; write {\"env\": \"NAME\"} or {\"file\": \"/path\"}.")
        }
        return Secret("")
    }

    private func secret(_ key: String, from members: JSONObject) -> Secret? {
        guard members.count == 1, let (kind, value) = members.first(where: { _ in true }),
            let name = value.string, kind == "env" || kind == "file"
        else {
            problem(
                key,
                "A secret is written {\"env\": \"NAME\"} or {\"file\": \"/path\"}, nothing else.")
            return nil
        }
        if kind == "env" {
            guard let text = session.source.environment[name] else {
                problem(
                    key, "The variable \(name.prefix(128)) is not set; set it or name another one.")
                return nil
            }
            return checked(key, text, "The variable \(name.prefix(128))")
        }
        guard name.hasPrefix("/") else {
            problem(key, "The path \"\(name.prefix(128))\" is not absolute; begin it with /.")
            return nil
        }
        do {
            var bytes = try BoundedFile.read(name, limit: Self.secretFileLimit)
            if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
            if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
            guard let text = String(validating: bytes, as: UTF8.self) else {
                problem(key, "The file \(name) is not UTF-8 text; store the secret as text.")
                return nil
            }
            return checked(key, text, "The file \(name)")
        } catch {
            problem(key, error.description)
            return nil
        }
    }

    private func checked(_ key: String, _ text: String, _ origin: String) -> Secret? {
        guard !text.isEmpty else {
            problem(key, "\(origin) is empty; put the secret there.")
            return nil
        }
        guard !text.utf8.contains(0) else {
            problem(key, "\(origin) holds a NUL character, which no secret may.")
            return nil
        }
        return Secret(text)
    }
}
