internal import CCurl

/// A call that keeps every rule of ``HTTPCall`` and whose host its policy allows.
///
/// The URL is parsed once, by the parser that will use it: two parsers that read one text differently are
/// how checks are walked around.
struct CheckedRequest: Sendable {
    let call: HTTPCall
    let url: ParsedURL
    /// As libcurl takes them: `Name: value`, or `Name;` for an empty value.
    let headerLines: [String]

    init(_ call: HTTPCall) throws(HTTPClientError) {
        self.call = call
        url = try ParsedURL(call.url)
        let host = url.host
        func check(_ rule: Bool, _ reason: @autoclosure () -> String) throws(HTTPClientError) {
            if rule { return }
            throw HTTPClientError(
                kind: .invalidCall(reason()), requestMayHaveBeenSent: false, host: host)
        }
        try check(Self.isMethod(call.method), "its method is not one that may be used")
        try check(call.method != "HEAD" || call.body == nil, "HEAD has no body")
        try check(
            (call.body?.count ?? 0) <= Self.maximumBody, "its body is longer than 16 MiB")
        try check(
            call.timeout > .zero && call.timeout <= .seconds(3_600)
                && call.connectTimeout > .zero && call.connectTimeout <= .seconds(3_600),
            "its time limits are not between zero and an hour")
        try check(
            (0...Self.maximumResponse).contains(call.maximumResponse),
            "its limit for the answer is not between zero and 64 MiB")
        try check(call.headers.count <= 64, "it has more than 64 header fields")
        var lines: [String] = []
        var length = 0
        for field in call.headers {
            try check(Self.isToken(field.name), "a header name is empty, too long or malformed")
            let name = field.name.lowercased()
            try check(!Self.ownNames.contains(name), "the header \(name) is the client's own")
            try check(
                Self.isFieldValue(field.value), "the value of the header \(name) has a control byte"
            )
            length += field.name.utf8.count + field.value.utf8.count
            let value = Self.trimmed(field.value)
            lines.append(value.isEmpty ? "\(field.name);" : "\(field.name): \(value)")
        }
        try check(length <= 65_536, "its header fields are longer than 64 KiB")
        headerLines = lines
        guard call.destination.allows(host: host) else {
            throw HTTPClientError(
                kind: .destinationRefused("the host is not on the list of allowed hosts"),
                requestMayHaveBeenSent: false, host: host)
        }
    }

    private static let maximumBody = 16 << 20
    private static let maximumResponse = 64 << 20

    /// What frames a message or belongs to one connection; set from outside it would split requests.
    private static let ownNames: Set<String> = [
        "host", "content-length", "transfer-encoding", "connection", "expect", "upgrade", "te",
        "trailer", "keep-alive", "proxy-connection", "proxy-authorization", "http2-settings",
    ]

    private static func isMethod(_ method: String) -> Bool {
        let letters = UInt8(ascii: "A")...UInt8(ascii: "Z")
        return (1...20).contains(method.utf8.count)
            && method.utf8.allSatisfy { letters.contains($0) }
            && method != "CONNECT" && method != "TRACE"
    }

    /// RFC 9110, section 5.6.2.
    private static func isToken(_ name: String) -> Bool {
        (1...128).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                case _: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    private static func isFieldValue(_ value: String) -> Bool {
        value.utf8.allSatisfy { $0 == 9 || ($0 >= 32 && $0 != 127) }
    }

    /// White space around a value means nothing, and libcurl takes a value of nothing else for a removal.
    private static func trimmed(_ value: String) -> Substring {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        var rest = value.drop(while: isSpace)
        while let last = rest.last, isSpace(last) { rest.removeLast() }
        return rest
    }
}

/// Owns libcurl's form of a URL.
///
/// Unchecked, since nothing changes it after `init`, and a transfer copies it.
final class ParsedURL: @unchecked Sendable {
    let handle: OpaquePointer
    /// As the transfer will use it: decoded, and numbers for any spelling of an IPv4 address.
    let host: String

    init(_ text: String) throws(HTTPClientError) {
        func refusal(_ reason: String) -> HTTPClientError {
            HTTPClientError(kind: .invalidCall(reason), requestMayHaveBeenSent: false)
        }
        guard text.utf8.count <= 8_192 else { throw refusal("its URL is longer than 8,192 bytes") }
        guard text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw refusal("its URL holds bytes other than printable ASCII; encode them")
        }
        let scheme = text.prefix { $0 != "/" }.lowercased()
        // libcurl would also take one slash, or three.
        let hasTwoSlashes =
            text.dropFirst(scheme.count).hasPrefix("//")
            && !text.dropFirst(scheme.count).hasPrefix("///")
        guard scheme == "http:" || scheme == "https:", hasTwoSlashes else {
            throw refusal("its URL begins with neither http:// nor https://")
        }
        guard let handle = curl_url() else { preconditionFailure("no memory for a URL") }
        let status = curl_url_set(handle, CURLUPART_URL, text, UInt32(CURLU_DISALLOW_USER))
        guard status == CURLUE_OK, let host = Self.part(CURLUPART_HOST, of: handle) else {
            curl_url_cleanup(handle)
            throw refusal(
                status == CURLUE_USER_NOT_ALLOWED
                    ? "its URL holds a user name or password; use a header" : "its URL is malformed"
            )
        }
        guard Self.isHost(host), Self.part(CURLUPART_ZONEID, of: handle) == nil else {
            curl_url_cleanup(handle)
            throw refusal("its URL's host is malformed; write international names in ASCII")
        }
        self.handle = handle
        self.host = host
    }

    deinit { curl_url_cleanup(handle) }

    private static func part(_ part: CURLUPart, of handle: OpaquePointer) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, 0) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }

    private static func isHost(_ host: String) -> Bool {
        !host.isEmpty
            && host.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                case _: "-._[]:".utf8.contains(byte)
                }
            }
    }
}
