// The patterns of the names that people give, checked without a regular expression engine.

/// Names of workflows: `[a-z0-9][a-z0-9-]{0,62}`.
func isPlainName(_ text: String) -> Bool { matches(text, marks: "-") }

/// Names of steps, branches, connectors, environments and accounts: `[a-z0-9][a-z0-9_-]{0,62}`.
func isStepName(_ text: String) -> Bool { matches(text, marks: "_-") }

/// Names of the app's own events, such as `checkout.opened`: words of `[a-z0-9_-]` with dots between.
func isEventName(_ text: String) -> Bool {
    text.utf8.count <= 128
        && text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy {
            matches(String($0), marks: "_-")
        }
}

/// Names of properties and attributes that can be written in a pointer without escapes.
func isPropertyName(_ text: String) -> Bool {
    (1...128).contains(text.utf8.count)
        && text.utf8.allSatisfy { isLetterOrDigit($0, upperToo: true) || $0 == UInt8(ascii: "_") }
}

/// `provider:<connector>:<TYPE>` taken apart; nil for another text.
func providerEvent(_ name: String) -> (connector: String, type: String)? {
    let parts = name.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0] == "provider", isStepName(String(parts[1])),
        !parts[2].isEmpty, parts[2].utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f })
    else { return nil }
    return (String(parts[1]), String(parts[2]))
}

/// Whether a text has the form of some event's name.
func isPossibleEvent(_ name: String) -> Bool {
    isEventName(name) || providerEvent(name) != nil
}

/// Names of partials: words of `[a-zA-Z0-9_-]` with dots or slashes between.
func isPartialName(_ text: String) -> Bool {
    (1...128).contains(text.utf8.count)
        && text.utf8.allSatisfy {
            isLetterOrDigit($0, upperToo: true) || "_-./".utf8.contains($0)
        }
}

/// Ids of features, which belong to another system: visible ASCII without a slash.
func isFeatureName(_ text: String) -> Bool {
    (1...128).contains(text.utf8.count)
        && text.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "/") }
}

/// A name of RFC 9110 for a header.
func isHeaderName(_ text: String) -> Bool {
    (1...128).contains(text.utf8.count)
        && text.utf8.allSatisfy {
            isLetterOrDigit($0, upperToo: true) || "!#$%&'*+-.^_`|~".utf8.contains($0)
        }
}

private func matches(_ text: String, marks: String) -> Bool {
    guard (1...63).contains(text.utf8.count), let first = text.utf8.first,
        isLetterOrDigit(first, upperToo: false)
    else { return false }
    return text.utf8.allSatisfy { isLetterOrDigit($0, upperToo: false) || marks.utf8.contains($0) }
}

private func isLetterOrDigit(_ byte: UInt8, upperToo: Bool) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): upperToo
    default: false
    }
}
