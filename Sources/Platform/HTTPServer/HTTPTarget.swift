/// The forms of a request target (RFC 9112, 3.2) and percent-decoding.
enum HTTPTarget {
    /// Path and query of a target of any form this server takes.
    ///
    /// - Throws: `malformedTarget` for every other form.
    static func parse(
        _ bytes: ArraySlice<UInt8>, method: String
    ) throws(HTTPRefusal) -> (path: String, query: String?) {
        guard bytes.allSatisfy(HTTPText.isTarget), let first = bytes.first else {
            throw .malformedTarget
        }
        if first == UInt8(ascii: "/") { return split(String(decoding: bytes, as: UTF8.self)) }
        if bytes.elementsEqual("*".utf8) {
            guard method == "OPTIONS" else { throw .malformedTarget }
            return ("*", nil)
        }
        return try absoluteForm(bytes)
    }

    /// "http://host/path?query": the host must be there and hold no user name; RFC 9112 lets it win
    /// over `Host`, which this server routes nothing by.
    private static func absoluteForm(
        _ bytes: ArraySlice<UInt8>
    ) throws(HTTPRefusal) -> (path: String, query: String?) {
        for scheme in ["http://", "https://"] {
            let start = bytes.prefix(scheme.utf8.count)
            guard HTTPText.equalsIgnoringCase(start, scheme.utf8) else { continue }
            let rest = bytes.dropFirst(scheme.utf8.count)
            let end =
                rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
                ?? rest.endIndex
            let authority = rest[..<end]
            guard !authority.isEmpty, authority.allSatisfy(HTTPText.isAuthority) else { break }
            let local = String(decoding: rest[end...], as: UTF8.self)
            return split(local.hasPrefix("/") ? local : "/" + local)
        }
        throw .malformedTarget
    }

    static func split(_ target: String) -> (path: String, query: String?) {
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return (target, nil) }
        return (String(target[..<mark]), String(target[target.utf8.index(after: mark)...]))
    }

    /// nil when an escape is broken, or when the outcome is no UTF-8 or holds a NUL.
    static func decode(_ text: some Sequence<UInt8>, plusIsSpace: Bool) -> String? {
        var decoded: [UInt8] = []
        var bytes = text.makeIterator()
        while let byte = bytes.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = bytes.next().flatMap(HTTPText.hexValue),
                    let low = bytes.next().flatMap(HTTPText.hexValue)
                else { return nil }
                decoded.append(UInt8(high * 16 + low))
            case UInt8(ascii: "+") where plusIsSpace: decoded.append(HTTPText.space)
            default: decoded.append(byte)
            }
        }
        guard !decoded.contains(0) else { return nil }
        return String(validating: decoded, as: UTF8.self)
    }
}
