import HTTPServer
import Reactor
import Testing

/// One hostile or odd exchange over a socket, and the only answers that are right.
struct HostileRow: Sendable {
    let name: String
    /// Sent one after the other; after each but the last, that many answers are awaited.
    let parts: [(text: [UInt8], answers: Int)]
    let statuses: [Int]
    /// Whether the server must close.
    var closes = true
    var halfCloses = false

    init(
        _ name: String, _ request: String, _ statuses: [Int], closes: Bool = true,
        halfCloses: Bool = false
    ) {
        self.init(
            name, parts: [(Array(request.utf8), 0)], statuses, closes: closes,
            halfCloses: halfCloses)
    }

    init(
        _ name: String, parts: [(text: [UInt8], answers: Int)], _ statuses: [Int],
        closes: Bool = true, halfCloses: Bool = false
    ) {
        self.name = name
        self.parts = parts
        self.statuses = statuses
        self.closes = closes
        self.halfCloses = halfCloses
    }
}

enum HostileTable {
    enum Part: String, CaseIterable, Sendable {
        case good
        case refused
        case smuggling

        var rows: [HostileRow] {
            switch self {
            case .good: HostileTable.good
            case .refused: HostileTable.refused
            case .smuggling: HostileTable.smuggling
            }
        }
    }

    static let payload = String(repeating: "{\"event\":\"renewal\"}", count: 110)
    static let line = "POST /hook HTTP/1.1\r\n"
    static let fields = "Host: x\r\nX-Signature: 00ff\r\nContent-Type: application/json\r\n"
    static let length = "Content-Length: \(payload.utf8.count)\r\n"
    static let whole = line + fields + length + "\r\n" + payload
    static let toChunked = line + fields + "Transfer-Encoding: chunked\r\n\r\n"

    static func chunked(_ text: String, by size: Int) -> String {
        var rest = Array(text.utf8)[...]
        var result = ""
        while !rest.isEmpty {
            let piece = rest.prefix(size)
            rest = rest.dropFirst(size)
            result += String(piece.count, radix: 16) + "\r\n"
            result += String(decoding: piece, as: UTF8.self) + "\r\n"
        }
        return result + "0\r\n\r\n"
    }

    static func pieces(_ text: String, by size: Int) -> [(text: [UInt8], answers: Int)] {
        let bytes = Array(text.utf8)
        return stride(from: 0, to: bytes.count, by: size).map {
            (Array(bytes[$0..<min($0 + size, bytes.count)]), 0)
        }
    }

    /// A request without body whose head has these fields.
    static func get(_ fields: String) -> String { "GET /hook HTTP/1.1\r\n\(fields)\r\n" }

    static let good: [HostileRow] = [
        HostileRow("plain", whole, [202], closes: false),
        HostileRow(
            "keep-alive, twice", parts: [(Array(whole.utf8), 1), (Array(whole.utf8), 0)],
            [202, 202], closes: false),
        HostileRow(
            "pipelined, three in one write", whole + whole + whole, [202, 202, 202],
            closes: false),
        HostileRow("byte by byte", parts: pieces(whole, by: 1), [202], closes: false),
        HostileRow("chunked", toChunked + chunked(payload, by: 500), [202], closes: false),
        HostileRow(
            "small chunks, split writes",
            parts: pieces(toChunked + chunked(payload, by: 7), by: 13), [202], closes: false),
        HostileRow(
            "expect 100, then the body",
            parts: [
                (Array((line + fields + length + "Expect: 100-continue\r\n\r\n").utf8), 1),
                (Array(payload.utf8), 0),
            ], [100, 202], closes: false),
        HostileRow(
            "expect 100 and the body with it",
            line + fields + length + "Expect: 100-continue\r\n\r\n" + payload, [202],
            closes: false),
        HostileRow(
            "HTTP/1.0", "POST /hook HTTP/1.0\r\n" + fields + length + "\r\n" + payload,
            [202]),
        HostileRow("HTTP/1.0 without host", "GET /hook HTTP/1.0\r\n\r\n", [202]),
        HostileRow("another path", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", [404], closes: false),
        HostileRow(
            "another path with a body", "POST / HTTP/1.1\r\nHost: x\r\n" + length + "\r\n", [404]),
        HostileRow(
            "expect 100 at another path",
            "POST / HTTP/1.1\r\nHost: x\r\n" + length + "Expect: 100-continue\r\n\r\n", [404]),
        HostileRow("half-close after the request", whole, [202], halfCloses: true),
        HostileRow("connection close", get("Host: x\r\nConnection: Close\r\n"), [202]),
        HostileRow(
            "connection close in a list", get("Host: x\r\nConnection: te, close\r\n"), [202]),
        HostileRow(
            "absolute form", "GET http://example.com/hook?a=1 HTTP/1.1\r\nHost: x\r\n\r\n", [202],
            closes: false),
        HostileRow("an empty line before", "\r\n" + whole, [202], closes: false),
        HostileRow(
            "chunk extensions and trailers",
            toChunked + "2;a=b\r\n{}\r\n0;z\r\nX-After: 1\r\n\r\n" + whole, [202, 202],
            closes: false),
    ]

    static let refused: [HostileRow] = [
        HostileRow("two empty lines before", "\r\n\r\n" + whole, [400]),
        HostileRow(
            "expect 100, too large",
            line + fields + "Content-Length: 900000\r\nExpect: 100-continue\r\n\r\n", [413]),
        HostileRow(
            "length too large",
            line + fields + "Content-Length: 900000\r\n\r\n"
                + String(repeating: "x", count: 200_000), [413]),
        HostileRow(
            "chunks too large",
            toChunked
                + String(
                    repeating: "4000\r\n" + String(repeating: "x", count: 0x4000) + "\r\n",
                    count: 10), [413]),
        HostileRow("another expectation", get("Host: x\r\nExpect: a-miracle\r\n"), [417]),
        HostileRow(
            "one huge field",
            line + fields + "X-Big: " + String(repeating: "a", count: 100_000) + "\r\n\r\n",
            [431]),
        HostileRow(
            "too many fields",
            get("Host: x\r\n" + String(repeating: "A: b\r\n", count: 100)), [431]),
        HostileRow(
            "target too long",
            "GET /" + String(repeating: "a", count: 9_000) + " HTTP/1.1\r\nHost: x\r\n\r\n",
            [414]),
        HostileRow("target without end", "GET /" + String(repeating: "a", count: 9_000), [414]),
        HostileRow("method without end", String(repeating: "A", count: 40), [501]),
        HostileRow(
            "method too long",
            String(repeating: "A", count: 40) + " /hook HTTP/1.1\r\nHost: x\r\n\r\n", [501]),
        HostileRow("tunnel", "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", [501]),
        HostileRow("space before colon", line + fields + "Content-Length : 5\r\n\r\n12345", [400]),
        HostileRow("fold", line + fields + length + "X-A: b\r\n c\r\n\r\n" + payload, [400]),
        HostileRow(
            "bare LF throughout", whole.split(separator: "\r\n").joined(separator: "\n"), [400]),
        HostileRow("bare LF, first line only", "GET /hook HTTP/1.1\n", [400]),
        HostileRow("bare LF in a field", get("Host: x\nX-A: b\r\n"), [400]),
        HostileRow("bare CR in a field", get("Host: x\r\nX-A: b\rc\r\n"), [400]),
        HostileRow("no host", get("X-A: b\r\n"), [400]),
        HostileRow("two hosts", get("Host: x\r\nHost: x\r\n"), [400]),
        HostileRow("host with a user", get("Host: a@b\r\n"), [400]),
        HostileRow("NUL in a field", get("Host: x\r\nX-A: b\0c\r\n"), [400]),
        HostileRow("control in a field", get("Host: x\r\nX-A: b\u{7F}c\r\n"), [400]),
        HostileRow("field without name", get("Host: x\r\n: b\r\n"), [400]),
        HostileRow("field without colon", get("Host: x\r\nnothing\r\n"), [400]),
        HostileRow("HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [505]),
        HostileRow("HTTP/1.2", "GET /hook HTTP/1.2\r\nHost: x\r\n\r\n", [505]),
        HostileRow("HTTP/2.0", "GET /hook HTTP/2.0\r\nHost: x\r\n\r\n", [505]),
        HostileRow("HTTP/0.9", "GET /hook\r\n", [400]),
        HostileRow("lower-case protocol", "GET /hook http/1.1\r\nHost: x\r\n\r\n", [400]),
        HostileRow("two blanks", "GET  /hook HTTP/1.1\r\nHost: x\r\n\r\n", [400]),
        HostileRow("fragment in the target", "GET /hook#a HTTP/1.1\r\nHost: x\r\n\r\n", [400]),
        HostileRow("relative target", "GET hook HTTP/1.1\r\nHost: x\r\n\r\n", [400]),
        HostileRow("star for GET", "GET * HTTP/1.1\r\nHost: x\r\n\r\n", [400]),
        HostileRow(
            "TLS on a plain port",
            parts: [
                ([0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3] + [UInt8](repeating: 0, count: 100), 0)
            ],
            [400]),
    ]

    static let smuggling: [HostileRow] = [
        HostileRow(
            "chunked beside a length",
            line + fields + length + "Transfer-Encoding: chunked\r\n\r\n"
                + chunked(payload, by: 500), [400]),
        HostileRow(
            "unknown coding beside a length",
            line + fields + "Transfer-Encoding: x\r\n" + length + "\r\n" + payload, [400]),
        HostileRow(
            "two lengths", line + fields + length + "Content-Length: 5\r\n\r\n" + payload, [400]),
        HostileRow(
            "the same length twice", line + fields + length + length + "\r\n" + payload, [400]),
        HostileRow("length list", line + fields + "Content-Length: 5, 5\r\n\r\n12345", [400]),
        HostileRow("length with plus", line + fields + "Content-Length: +5\r\n\r\n12345", [400]),
        HostileRow("negative length", line + fields + "Content-Length: -1\r\n\r\n", [400]),
        HostileRow("length in hex", line + fields + "Content-Length: 0x5\r\n\r\n12345", [400]),
        HostileRow("empty length", line + fields + "Content-Length: \r\n\r\n", [400]),
        HostileRow(
            "length that overflows",
            line + fields + "Content-Length: 18446744073709551621\r\n\r\n12345", [400]),
        HostileRow(
            "xchunked", line + fields + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", [501]),
        HostileRow(
            "gzip, chunked", line + fields + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
            [501]),
        HostileRow(
            "identity", line + fields + "Transfer-Encoding: identity\r\n\r\n", [501]),
        HostileRow(
            "chunked twice",
            line + fields + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
            [400]),
        HostileRow(
            "vertical tab before chunked",
            line + fields + "Transfer-Encoding: \u{0B}chunked\r\n\r\n0\r\n\r\n", [400]),
        HostileRow(
            "chunked in HTTP/1.0",
            "POST /hook HTTP/1.0\r\n" + fields + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            [400]),
        HostileRow("chunk size that is none", toChunked + "zz\r\nabc\r\n0\r\n\r\n", [400]),
        HostileRow("empty chunk size", toChunked + "\r\nabc\r\n0\r\n\r\n", [400]),
        HostileRow("chunk size 0x3", toChunked + "0x3\r\nabc\r\n0\r\n\r\n", [400]),
        HostileRow("negative chunk size", toChunked + "-3\r\nabc\r\n0\r\n\r\n", [400]),
        HostileRow("chunk size, then blank", toChunked + "3 \r\nabc\r\n0\r\n\r\n", [400]),
        HostileRow(
            "chunk size that overflows", toChunked + "FFFFFFFFFFFFFFFF1\r\nabc\r\n0\r\n\r\n",
            [413]),
        HostileRow("chunk longer than said", toChunked + "2\r\nabc\r\n0\r\n\r\n", [400]),
        HostileRow("chunk line with bare LF", toChunked + "3\nabc\r\n0\r\n\r\n", [400]),
        HostileRow("chunk end with bare LF", toChunked + "3\r\nabc\n0\r\n\r\n", [400]),
        HostileRow(
            "endless chunk extension", toChunked + "3;" + String(repeating: "a", count: 300),
            [400]),
        HostileRow(
            "too many chunk extensions",
            toChunked
                + String(
                    repeating: "1;" + String(repeating: "a", count: 200) + "\r\nx\r\n", count: 100),
            [431]),
        HostileRow(
            "endless trailers",
            toChunked + "0\r\n" + String(repeating: "X-After: b\r\n", count: 2_000), [431]),
        HostileRow("broken trailer", toChunked + "0\r\n folded\r\n\r\n", [400]),
        HostileRow(
            "a request inside the refused one",
            line + fields + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
                + whole, [400]),
    ]
}

@Suite struct HostileRequestTests {
    @Test(arguments: HostileTable.Part.allCases)
    func `every hostile request gets its one right answer`(
        _ part: HostileTable.Part
    ) async throws {
        var limits = HTTPLimits()
        limits.maximumBody = 65_536
        try await withServer(Server(limits: limits)) { server in
            for row in part.rows { try check(row, port: server.port) }
        }
    }

    private func check(_ row: HostileRow, port: UInt16) throws {
        let client = RawClient(port: port)
        var statuses: [Int] = []
        for part in row.parts {
            client.send(part.text)
            for _ in 0..<part.answers {
                statuses.append(try #require(client.answer(), "\(row.name)").status)
            }
        }
        if row.halfCloses { client.finishSending() }
        if row.closes {
            statuses += client.statusesToEnd()
            #expect(client.sawEnd, "\(row.name): no orderly end")
        } else {
            while statuses.count < row.statuses.count, let answer = client.answer() {
                statuses.append(answer.status)
            }
            // The connection still serves, and nothing unasked-for came before this answer.
            client.send("GET /hook HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            #expect(client.statusesToEnd() == [202], "\(row.name): not kept alive")
        }
        #expect(statuses == row.statuses, "\(row.name)")
    }

    @Test func `a slow head is answered 408 and closed`() async throws {
        var limits = HTTPLimits()
        limits.headTimeout = .milliseconds(100)
        try await withServer(Server(limits: limits)) { server in
            let client = RawClient(port: server.port)
            client.send("POST /hook HTT")
            #expect(client.statusesToEnd() == [408])
            #expect(client.sawEnd)
            #expect(server.listener.stats.refusals == [.headTimeout: 1])
        }
    }

    @Test func `a slow body is answered 408 and closed`() async throws {
        var limits = HTTPLimits()
        limits.bodyTimeout = .milliseconds(100)
        try await withServer(Server(limits: limits)) { server in
            let client = RawClient(port: server.port)
            client.send(
                HostileTable.line + HostileTable.fields + HostileTable.length + "\r\n{\"event")
            #expect(client.statusesToEnd() == [408])
            #expect(client.sawEnd)
            #expect(server.listener.stats.refusals == [.bodyTimeout: 1])
        }
    }
}
