/// The headers of one delivery, looked up by name whatever its case.
struct HeaderFields {
    let fields: [(name: String, value: String)]

    /// The only value of a header.
    ///
    /// A header that stands twice is refused: a proxy and this process could each believe another one.
    func single(
        _ name: String, for scheme: AuthenticationScheme
    ) throws(AuthenticationRefusal) -> String {
        var found: String?
        for field in fields where field.name.equalsIgnoringCase(name) {
            if found != nil {
                throw AuthenticationRefusal(scheme: scheme, cause: .duplicateHeader, header: name)
            }
            found = field.value
        }
        guard let found, !found.isEmpty else {
            throw AuthenticationRefusal(scheme: scheme, cause: .missingHeader, header: name)
        }
        return found
    }

    /// Whether any header's name begins so.
    func holdsName(withPrefix prefix: String) -> Bool {
        fields.contains { field in
            field.name.utf8.count >= prefix.utf8.count
                && zip(field.name.utf8, prefix.utf8).allSatisfy { lowered($0) == $1 }
        }
    }
}

extension String {
    /// Equality over ASCII letters of either case; `other` is given in lower case.
    func equalsIgnoringCase(_ other: String) -> Bool {
        utf8.count == other.utf8.count
            && zip(utf8, other.utf8).allSatisfy { lowered($0) == $1 }
    }

    /// ASCII letters in lower case, everything else as it is.
    var loweredASCII: String { String(decoding: utf8.map(lowered), as: UTF8.self) }
}

private func lowered(_ byte: UInt8) -> UInt8 {
    byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte
}
