import HTTPServer
import TestMaterial
import Testing

@Suite struct HTTPRequestParserTests {
    private func events(
        _ pieces: [[UInt8]], limits: HTTPLimits = HTTPLimits()
    ) -> [HTTPRequestParser.Event] {
        var parser = HTTPRequestParser(limits: limits)
        var events: [HTTPRequestParser.Event] = []
        for piece in pieces {
            parser.feed(piece)
            while let event = parser.next() { events.append(event) }
        }
        return events
    }

    private func head(_ text: String) throws -> HTTPHead {
        guard case .head(let head) = events([Array(text.utf8)]).first else {
            throw HTTPRefusal.malformedRequestLine
        }
        return head
    }

    @Test func `a head is taken apart`() throws {
        let head = try head(
            "POST /v1/a%20b?x=1%2B1&y=a+b&x=%zz HTTP/1.1\r\nhost: h\r\n"
                + "X-One: \t first \t\r\nx-one: second\r\nContent-Length: 2\r\n\r\n")
        #expect(head.method == "POST")
        #expect(head.target == "/v1/a%20b?x=1%2B1&y=a+b&x=%zz")
        #expect(head.path == "/v1/a%20b")
        #expect(head.query == "x=1%2B1&y=a+b&x=%zz")
        #expect(head.pathSegments == ["v1", "a b"])
        #expect(head.queryValues(of: "x") == ["1+1"])
        #expect(head.queryValues(of: "y") == ["a b"])
        #expect(head.headers.count == 4)
        #expect(head.headers["X-ONE"] == "first")
        #expect(head.headers.values(of: "x-oNe") == ["first", "second"])
        #expect(head.headers["absent"] == nil)
        #expect(head.hasBody && head.keepsAlive && head.isVersion11 && !head.expectsContinue)
    }

    @Test func `an absolute target gives its path`() throws {
        let some = try head("GET HTTPS://a.example:443/p/q?r HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(some.path == "/p/q" && some.query == "r")
        let none = try head("GET http://a.example?r HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(none.path == "/" && none.query == "r")
    }

    @Test(arguments: ["http://", "http:///p", "http://u@h/p", "ftp://h/p", "h:80", "*"])
    func `a target of another form is refused`(_ target: String) {
        #expect(
            events([Array("GET \(target) HTTP/1.1\r\nHost: x\r\n\r\n".utf8)])
                == [.refused(.malformedTarget)])
    }

    @Test(arguments: ["/%", "/%4", "/%4g", "/%00", "/%ff"])
    func `a segment that cannot be decoded is nil`(_ target: String) {
        #expect(HTTPRequest(method: "GET", target: target).head.pathSegments == nil)
    }

    @Test func `an escaped slash stays inside its segment`() {
        let request = HTTPRequest(method: "GET", target: "/a%2Fb//c")
        #expect(request.head.pathSegments == ["a/b", "", "c"])
    }

    @Test func `nothing follows a refusal`() {
        let bad = Array("GET /\r\n".utf8)
        let good = Array(HostileTable.whole.utf8)
        #expect(events([bad, good]) == [.refused(.malformedRequestLine)])
    }

    @Test func `bounds admit exactly what they say`() {
        var limits = HTTPLimits()
        limits.maximumBody = 3
        limits.maximumTarget = 5
        limits.maximumHeaders = 2
        limits.maximumHead = 60
        func first(_ text: String) -> HTTPRefusal? {
            for case .refused(let refusal) in events([Array(text.utf8)], limits: limits) {
                return refusal
            }
            return nil
        }
        let host = "Host: x\r\n"
        #expect(first("GET /1234 HTTP/1.1\r\n\(host)\r\n") == nil)
        #expect(first("GET /12345 HTTP/1.1\r\n\(host)\r\n") == .targetTooLong)
        #expect(first("GET / HTTP/1.1\r\n\(host)A: b\r\n\r\n") == nil)
        #expect(first("GET / HTTP/1.1\r\n\(host)A: b\r\nA: b\r\n\r\n") == .headTooLarge)
        #expect(first("POST / HTTP/1.1\r\n\(host)Content-Length: 3\r\n\r\n123") == nil)
        #expect(first("POST / HTTP/1.1\r\n\(host)Content-Length: 4\r\n\r\n") == .bodyTooLarge)
        // 16 + 9 bytes, so the next line may have 35 with its CRLF.
        let fill = String(repeating: "b", count: 30)
        #expect(first("GET / HTTP/1.1\r\n\(host)A: \(fill)\r\n\r\n") == nil)
        #expect(first("GET / HTTP/1.1\r\n\(host)A: \(fill)b\r\n\r\n") == .headTooLarge)
        let chunked = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        limits.maximumHead = 100
        #expect(first(chunked + "3\r\nabc\r\n0\r\n\r\n") == nil)
        #expect(first(chunked + "2\r\nab\r\n2\r\n") == .bodyTooLarge)
    }

    @Test func `valid requests give the same events however they are split`() {
        let seed: UInt64 = 20261131
        print("seed=\(seed)")
        var generator = SeededGenerator(seed: seed)
        let bytes = Array(
            (HostileTable.whole + "\r\n" + HostileTable.toChunked
                + HostileTable.chunked(HostileTable.payload, by: 97)
                + HostileTable.toChunked + "2;a=b\r\n{}\r\n0\r\nX-After: 1\r\n\r\n"
                + "GET /hook?a=b HTTP/1.1\r\nHost: x\r\n\r\n").utf8)
        let whole = events([bytes])
        #expect(whole.count == 8)
        for _ in 0..<200 {
            let cuts = (0..<Int.random(in: 1...40, using: &generator)).map { _ in
                Int.random(in: 0...bytes.count, using: &generator)
            }
            let edges = [0] + cuts.sorted() + [bytes.count]
            let pieces = zip(edges, edges.dropFirst()).map { Array(bytes[$0..<$1]) }
            guard events(pieces) == whole else {
                Issue.record("other events with seed=\(seed), cuts \(cuts.sorted())")
                return
            }
        }
    }

    @Test func `refusals come however the request is split`() {
        for row in HostileTable.refused + HostileTable.smuggling {
            let bytes = row.parts.flatMap(\.text)
            let pieces = bytes.prefix(20_000).map { [$0] }
            var limits = HTTPLimits()
            limits.maximumBody = 8_000
            guard case .refused(let refusal) = events(pieces, limits: limits).last else {
                Issue.record("\(row.name) is not refused")
                continue
            }
            #expect(refusal.status == row.statuses.last, "\(row.name)")
        }
    }

    @Test func `mutated requests never trap and stay within their bounds`() {
        let seed: UInt64 = 20261132
        print("seed=\(seed)")
        var generator = SeededGenerator(seed: seed)
        var limits = HTTPLimits()
        limits.maximumBody = 400
        limits.maximumHead = 400
        let texts = (HostileTable.good + HostileTable.smuggling).map { row in
            Array(row.parts.flatMap(\.text).prefix(700))
        }
        let odd: [UInt8] = [0, 9, 10, 13, 32, 58, 59, 44, 37, 0x30, 0x46, 0x7F, 0x80, 0xFF]
        for _ in 0..<5_000 {
            var bytes = texts.randomElement(using: &generator) ?? []
            for _ in 0..<Int.random(in: 1...8, using: &generator) where !bytes.isEmpty {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[index] = odd.randomElement(using: &generator) ?? 0
                case 1: bytes.remove(at: index)
                case 2: bytes.insert(odd.randomElement(using: &generator) ?? 0, at: index)
                case _: bytes[index] = UInt8.random(in: .min ... .max, using: &generator)
                }
            }
            var parser = HTTPRequestParser(limits: limits)
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 1...300, using: &generator))
                rest = rest.dropFirst(piece.count)
                parser.feed(piece)
                while let event = parser.next() {
                    if case .body(let body) = event, body.count > limits.maximumBody {
                        Issue.record("a body of \(body.count) bytes with seed=\(seed)")
                    }
                }
                if parser.bufferedCount > limits.maximumHead {
                    Issue.record("\(parser.bufferedCount) bytes kept with seed=\(seed)")
                    return
                }
            }
        }
    }
}
