/// An answer of the application.
///
/// The server adds `Content-Length`, `Date`, `X-Request-Id` and, where needed, `Connection`; fields of
/// these names, and `Transfer-Encoding`, set here are left out.
package struct HTTPResponse: Sendable, Hashable {
    /// 200 to 599; anything else is sent as 500.
    package var status: Int
    /// Names that are no tokens are left out; control characters in values become blanks.
    package var headers: [HTTPField]
    /// Not sent for HEAD, 204 and 304.
    package var body: [UInt8]
    /// Closes the connection after this answer.
    package var closesConnection: Bool

    /// An answer; by default empty and keeping the connection.
    package init(
        status: Int, headers: [HTTPField] = [], body: [UInt8] = [], closesConnection: Bool = false
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.closesConnection = closesConnection
    }

    /// An answer of type `application/json`; the caller vouches for the bytes.
    package static func json(_ status: Int, _ body: [UInt8]) -> HTTPResponse {
        HTTPResponse(
            status: status, headers: [HTTPField("Content-Type", "application/json")], body: body)
    }

    /// An answer of type `text/plain` in UTF-8.
    package static func text(_ status: Int, _ text: String) -> HTTPResponse {
        HTTPResponse(
            status: status, headers: [HTTPField("Content-Type", "text/plain; charset=utf-8")],
            body: Array(text.utf8))
    }

    /// What the server says when it refuses a request by itself.
    static func refusal(_ refusal: HTTPRefusal, status: Int) -> HTTPResponse {
        // Codes and sentences are our own constants: nothing in them needs escaping but quotes.
        let sentence = refusal.description.split(separator: "\"").joined(separator: "'")
        let body = "{\"error\":{\"code\":\"\(refusal.rawValue)\",\"message\":\"\(sentence)\"}}"
        var response = HTTPResponse.json(status, Array(body.utf8))
        if status == 503 { response.headers.append(HTTPField("Retry-After", "1")) }
        response.closesConnection = true
        return response
    }

    // MARK: Bytes

    /// Appends the answer as it goes over the wire.
    ///
    /// - Parameter closes: whether to say that the connection ends after it.
    func write(
        to output: inout [UInt8], forHEAD: Bool, closes: Bool, date: String, requestID: String
    ) {
        let code = (200...599).contains(status) ? status : 500
        let isEmpty = code == 204 || code == 304
        output.append(contentsOf: "HTTP/1.1 ".utf8)
        Self.append(code, to: &output)
        output.append(HTTPText.space)
        output.append(contentsOf: Self.reason(code).utf8)
        Self.append("Date", date, to: &output)
        Self.append("X-Request-Id", requestID, to: &output)
        for field in headers where !Self.isReserved(field) {
            Self.append(field.name, field.value, to: &output)
        }
        if !isEmpty {
            output.append(contentsOf: "\r\nContent-Length: ".utf8)
            Self.append(body.count, to: &output)
        }
        if closes { Self.append("Connection", "close", to: &output) }
        output.append(contentsOf: "\r\n\r\n".utf8)
        if !isEmpty && !forHEAD { output.append(contentsOf: body) }
    }

    private static func isReserved(_ field: HTTPField) -> Bool {
        guard !field.name.isEmpty, field.name.utf8.allSatisfy(HTTPText.isToken) else { return true }
        return switch field.name.utf8.count {
        case 4: field.isNamed("date")
        case 10: field.isNamed("connection")
        case 12: field.isNamed("x-request-id")
        case 14: field.isNamed("content-length")
        case 17: field.isNamed("transfer-encoding")
        default: false
        }
    }

    private static func append(_ name: String, _ value: String, to output: inout [UInt8]) {
        output.append(contentsOf: "\r\n".utf8)
        output.append(contentsOf: name.utf8)
        output.append(contentsOf: ": ".utf8)
        for byte in value.utf8 {
            output.append(HTTPText.isFieldContent(byte) ? byte : HTTPText.space)
        }
    }

    private static func append(_ number: Int, to output: inout [UInt8]) {
        if number >= 10 { append(number / 10, to: &output) }
        output.append(0x30 + UInt8(number % 10))
    }

    private static func reason(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 303: "See Other"
        case 304: "Not Modified"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 417: "Expectation Failed"
        case 422: "Unprocessable Content"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        case 505: "HTTP Version Not Supported"
        default: "Status"
        }
    }
}
