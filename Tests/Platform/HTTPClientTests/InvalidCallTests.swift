import HTTPClient
import Testing

@Suite struct InvalidCallTests {
    @Test(arguments: [
        ("X-A", "b\r\nInjected: 1"), ("X-A", "b\nInjected: 1"), ("X-A", "b\r"), ("X-A", "b\0c"),
        ("X-A", "\u{7f}"), ("X-A\r\nInjected", "1"), ("X-A: 1\r\nInjected", "1"), ("X A", "1"),
        ("X-A:", "1"), ("X-A;", "1"), ("", "1"), ("é", "1"), ("X\0", "1"), ("Host", "evil.test"),
        ("host", "evil.test"), ("Content-Length", "5"), ("CONTENT-LENGTH", "5"),
        ("Transfer-Encoding", "chunked"), ("Connection", "close"), ("Expect", "100-continue"),
        ("Upgrade", "h2c"), ("TE", "trailers"), ("Proxy-Authorization", "x"),
    ])
    func `a header that could change the request's frame is refused`(
        name: String, value: String
    ) async throws {
        try await refuse { $0.headers = [HTTPHeaderField(name: name, value: value)] }
    }

    @Test(arguments: [
        "", "/path", "127.0.0.1", "http:", "http://", "http:///x", "http:127.0.0.1",
        "ftp://127.0.0.1/", "file:///etc/passwd", "gopher://127.0.0.1/", "ws://127.0.0.1/",
        "http://user@127.0.0.1/", "http://user:word@127.0.0.1/", "http://:word@127.0.0.1/",
        "http://127.0.0.1/a b", "http://127.0.0.1/\r\nX: 1", "http://127.0.0.1/\0",
        "http://exämple.test/", "http://ex%C3%A4mple.test/", "http://a%00b.test/",
        "http://127.0.0.1:99999/", "http://127.0.0.1:x/", "http://[::1/", "http://[fe80::1%25lo]/",
        "http://a,b/", "http://a%2fb/", " http://127.0.0.1/", "http://127.0.0.1 /",
        "http://" + String(repeating: "a", count: 8_200),
    ])
    func `a URL that is not a plain absolute one is refused`(url: String) async throws {
        try await refuse { $0.url = url }
    }

    @Test(arguments: [
        "", "get", "GET ", "GET /x HTTP/1.1\r\n", "G\u{c9}T", "CONNECT", "TRACE",
        "ABCDEFGHIJKLMNOPQRSTU",
    ])
    func `a method that is not a plain word is refused`(method: String) async throws {
        try await refuse { $0.method = method }
    }

    @Test func `bounds are kept`() async throws {
        try await refuse { $0.timeout = .zero }
        try await refuse { $0.timeout = .seconds(-1) }
        try await refuse { $0.timeout = .seconds(3_601) }
        try await refuse { $0.connectTimeout = .zero }
        try await refuse { $0.maximumResponse = -1 }
        try await refuse { $0.maximumResponse = 1 << 30 }
        try await refuse { $0.body = [UInt8](repeating: 0, count: 16 << 20 + 1) }
        try await refuse {
            $0.headers = .init(repeating: HTTPHeaderField(name: "X", value: "1"), count: 65)
        }
        try await refuse {
            let value = String(repeating: "a", count: 65_536)
            $0.headers = [HTTPHeaderField(name: "X", value: value)]
        }
        try await refuse {
            $0.method = "HEAD"
            $0.body = []
        }
    }

    @Test func `the refusal says what is wrong and withholds values`() async throws {
        try await ClientWorld.run { world in
            let error = try await world.failure(
                world.call(headers: [.init(name: "X-Key", value: "secret\r\n")]))
            #expect(
                error.description
                    == "The HTTP call to 127.0.0.1 is not allowed: the value of the header x-key has "
                    + "a control byte; nothing was sent; correct the call.")
        }
    }

    /// Changes a good call and expects it to be refused before anything happens.
    private func refuse(
        _ change: (inout HTTPCall) -> Void, at location: SourceLocation = #_sourceLocation
    ) async throws {
        try await ClientWorld.run { world in
            var call = world.call()
            change(&call)
            let error = try await world.failure(call)
            guard case .invalidCall = error.kind else {
                Issue.record("\(error)", sourceLocation: location)
                return
            }
            #expect(!error.requestMayHaveBeenSent, sourceLocation: location)
            #expect(world.receiver.connectionCount == 0, sourceLocation: location)
        }
    }
}
