extension TimeZoneRules {
    /// Whether a text has the form of a zone's name: parts of letters, digits, `_`, `+` and `-` with
    /// slashes between, each begun by a letter, 64 bytes in all. So no name can climb out of the
    /// directory. `localtime`, `right/` and `posix/` are refused: they mean other things elsewhere.
    package static func isName(_ text: String) -> Bool {
        guard (1...64).contains(text.utf8.count) else { return false }
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let outer = parts.first.map { String(Substring($0)) } ?? ""
        if ["localtime", "right", "posix", "posixrules"].contains(outer) { return false }
        return parts.count <= 4
            && parts.allSatisfy { part in
                guard let first = part.first, isLetter(first) else { return false }
                return part.allSatisfy { byte in
                    isLetter(byte) || (48...57).contains(byte) || "_+-".utf8.contains(byte)
                }
            }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (97...122).contains(byte | 0x20) }
}
