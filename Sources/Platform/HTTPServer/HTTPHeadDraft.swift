/// A head while its lines arrive; each line is judged once, as soon as it is whole.
struct HTTPHeadDraft: Sendable {
    /// How the body is delimited.
    enum Framing: Sendable, Hashable {
        case length(Int)
        case chunked
    }

    /// Bytes of lines read so far.
    var byteCount = 0
    private var method = ""
    private var target = ""
    private var path = ""
    private var query: String?
    private var isVersion11 = false
    private var fields: [HTTPField] = []
    private var contentLength: Int?
    private var transferEncodings: [String] = []
    private var hostCount = 0
    private var wantsClose = false
    private var expectsContinue = false
    private var hasOtherExpectation = false

    /// Longer tokens are no method of any registry.
    static let maximumMethod = 32

    // MARK: Request line

    mutating func readRequestLine(
        _ line: ArraySlice<UInt8>, limits: HTTPLimits
    ) throws(HTTPRefusal) {
        guard let methodEnd = line.firstIndex(of: HTTPText.space), methodEnd > line.startIndex,
            line[..<methodEnd].allSatisfy(HTTPText.isToken)
        else { throw .malformedRequestLine }
        guard methodEnd - line.startIndex <= Self.maximumMethod else { throw .unsupportedMethod }
        let rest = line[(methodEnd + 1)...]
        guard let targetEnd = rest.firstIndex(of: HTTPText.space), targetEnd > rest.startIndex
        else { throw .malformedRequestLine }
        try readVersion(rest[(targetEnd + 1)...])
        let targetBytes = rest[..<targetEnd]
        guard targetBytes.count <= limits.maximumTarget else { throw .targetTooLong }
        method = String(decoding: line[..<methodEnd], as: UTF8.self)
        // A tunnel is nothing this server could open.
        guard method != "CONNECT" else { throw .unsupportedMethod }
        (path, query) = try HTTPTarget.parse(targetBytes, method: method)
        target = String(decoding: targetBytes, as: UTF8.self)
        fields.reserveCapacity(16)
    }

    private mutating func readVersion(_ bytes: ArraySlice<UInt8>) throws(HTTPRefusal) {
        let start = bytes.startIndex
        guard bytes.count == 8, bytes.starts(with: "HTTP/".utf8),
            HTTPText.isDigit(bytes[start + 5]),
            bytes[start + 6] == UInt8(ascii: "."), HTTPText.isDigit(bytes[start + 7])
        else { throw .malformedRequestLine }
        switch (bytes[start + 5], bytes[start + 7]) {
        case (0x31, 0x31): isVersion11 = true
        case (0x31, 0x30): isVersion11 = false
        case (_, _): throw .unsupportedVersion
        }
    }

    // MARK: Fields

    mutating func readField(_ line: ArraySlice<UInt8>, limits: HTTPLimits) throws(HTTPRefusal) {
        // A fold begins with white space and a blank before the colon is no token: both end here.
        guard let colon = line.firstIndex(where: { !HTTPText.isToken($0) }),
            line[colon] == HTTPText.colon, colon > line.startIndex
        else { throw .malformedField }
        let content = line[(colon + 1)...]
        guard content.allSatisfy(HTTPText.isFieldContent) else { throw .malformedField }
        guard fields.count < limits.maximumHeaders else { throw .headTooLarge }
        let value = HTTPText.trimmed(content)
        let field = HTTPField(
            String(decoding: line[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self))
        fields.append(field)
        try heed(field, value)
    }

    /// Takes note of the fields that decide where the request ends and what becomes of the connection.
    private mutating func heed(
        _ field: HTTPField, _ value: ArraySlice<UInt8>
    ) throws(HTTPRefusal) {
        switch field.name.utf8.count {
        case 4 where field.isNamed("host"):
            hostCount += 1
            guard value.allSatisfy(HTTPText.isAuthority) else { throw .malformedHost }
        case 6 where field.isNamed("expect"):
            if HTTPText.equalsIgnoringCase(value, "100-continue".utf8) {
                expectsContinue = true
            } else {
                hasOtherExpectation = true
            }
        case 10 where field.isNamed("connection"):
            for option in HTTPText.list(field.value)
            where HTTPText.equalsIgnoringCase(option.utf8, "close".utf8) {
                wantsClose = true
            }
        case 14 where field.isNamed("content-length"):
            guard contentLength == nil, let length = Self.decimal(value) else {
                throw .malformedContentLength
            }
            contentLength = length
        case 17 where field.isNamed("transfer-encoding"):
            transferEncodings.append(field.value)
        default: break
        }
    }

    /// Digits only, and few enough not to overflow.
    private static func decimal(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard !bytes.isEmpty, bytes.count <= 18, bytes.allSatisfy(HTTPText.isDigit) else {
            return nil
        }
        return bytes.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    // MARK: End

    /// The head and its framing, judged as a whole.
    func finish(limits: HTTPLimits) throws(HTTPRefusal) -> (head: HTTPHead, framing: Framing) {
        guard isVersion11 ? hostCount == 1 : hostCount <= 1 else { throw .malformedHost }
        let framing = try framing()
        guard !hasOtherExpectation else { throw .unsupportedExpectation }
        let hasBody =
            switch framing {
            case .chunked: true
            case .length(let length): length > 0
            }
        if case .length(let length) = framing, length > limits.maximumBody { throw .bodyTooLarge }
        let head = HTTPHead(
            method: method, target: target, path: path, query: query,
            headers: HTTPFields(fields), isVersion11: isVersion11,
            keepsAlive: isVersion11 && !wantsClose,
            expectsContinue: expectsContinue && isVersion11 && hasBody, hasBody: hasBody)
        return (head, framing)
    }

    /// Any doubt is an error: what is read as two requests here and as one elsewhere is an attack.
    private func framing() throws(HTTPRefusal) -> Framing {
        guard let encoding = transferEncodings.first else { return .length(contentLength ?? 0) }
        guard transferEncodings.count == 1, contentLength == nil, isVersion11 else {
            throw .conflictingFraming
        }
        guard HTTPText.equalsIgnoringCase(encoding.utf8, "chunked".utf8) else {
            throw .unsupportedTransferEncoding
        }
        return .chunked
    }
}
