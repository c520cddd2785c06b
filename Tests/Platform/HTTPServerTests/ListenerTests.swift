import HTTPServer
import Reactor
import Synchronization
import Testing

@Suite struct ListenerTests {
    @Test func `drain answers what is under way, closes what is idle and then refuses`()
        async throws
    {
        let began = Signal()
        let release = Signal()
        let server = try Server { _ in
            began.give()
            await release.wait()
            return .text(200, "done")
        }
        let idle = RawClient(port: server.port)
        idle.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(idle.answer()?.status == 404)
        let busy = RawClient(port: server.port)
        busy.send(ConnectionTests.get)
        await began.wait()
        // On the loop: the test's own thread blocks in the reads below.
        let drained = Task(executorPreference: server.loop.tasks) {
            await server.listener.drain(within: .seconds(10))
        }
        #expect(idle.endsSilently())
        release.give()
        let answer = busy.answer()
        #expect(answer?.status == 200 && answer?.fields["connection"] == "close")
        #expect(busy.endsSilently())
        busy.finishSending()
        await drained.value
        #expect(server.listener.stats.openConnections == 0)
        #expect(RawClient(port: server.port).sawReset)
        server.loop.stop()
    }

    @Test func `drain ends at its limit and closes the rest`() async throws {
        let release = Signal()
        let began = Signal()
        let server = try Server { _ in
            began.give()
            await release.wait()
            return .text(200, "late")
        }
        let client = RawClient(port: server.port)
        client.send(ConnectionTests.get)
        await began.wait()
        await server.listener.drain(within: .milliseconds(20))
        #expect(client.endsSilently())
        #expect(server.listener.stats.runningHandlers == 1)
        release.give()
        await server.stop()
    }

    @Test(arguments: ["[::1]:0", "[::]:0", "0.0.0.0:0", "localhost:0"])
    func `it listens on`(_ address: String) async throws {
        let server = try Server(address: address) { .text(200, $0.peerAddress) }
        try await withServer(server) { server in
            let client = RawClient(port: server.port, isIPv6: address == "[::1]:0")
            client.send(ConnectionTests.get)
            let peer = address == "[::1]:0" ? "::1" : "127.0.0.1"
            #expect(client.answer()?.body == Array(peer.utf8))
        }
    }

    @Test(arguments: [
        "", "8080", ":8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:+1",
        "::1:80", "[127.0.0.1]:80", "example.com:80", "127.1:80",
    ])
    func `an address it cannot read is refused`(_ address: String) {
        #expect(throws: HTTPServerError.invalidAddress(address)) {
            try Server(address: address)
        }
    }

    @Test func `a port in use is told`() async throws {
        try await withServer(Server()) { server in
            let address = "127.0.0.1:\(server.port)"
            #expect(
                throws: HTTPServerError.cannotListen(
                    address: address, reason: "Address already in use")
            ) { try Server(address: address) }
            #expect(throws: HTTPServerError.alreadyStarted) { try server.listener.start() }
            #expect(throws: HTTPServerError.noTLS) { try server.listener.reloadTLS() }
        }
    }

    @Test(arguments: ["10.0.0.0/33", "10.0.0/8", "::1/129", "proxy", "10.0.0.1/", "10.0.0.1/8/8"])
    func `a trusted proxy it cannot read is refused`(_ text: String) {
        #expect(throws: HTTPServerError.invalidTrustedProxy(text)) {
            try Server(trustedProxies: [text])
        }
    }

    @Test func `forwarded fields are believed from trusted proxies only`() async throws {
        let cases: [(trusted: [String], fields: String, says: String)] = [
            ([], "X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: https\r\n", "127.0.0.1 false"),
            (["10.0.0.0/8"], "X-Forwarded-For: 192.0.2.1\r\n", "127.0.0.1 false"),
            (["127.0.0.0/8"], "", "127.0.0.1 false"),
            (
                ["127.0.0.1"], "X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: HTTPS\r\n",
                "192.0.2.1 true"
            ),
            // What the client claims stands before what the nearest proxy wrote.
            (["127.0.0.1"], "X-Forwarded-For: 6.6.6.6, 192.0.2.1\r\n", "192.0.2.1 false"),
            (
                ["127.0.0.1", "10.0.0.0/8"],
                "X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-For: 192.0.2.1:99, 10.9.9.9\r\n",
                "192.0.2.1 false"
            ),
            (["127.0.0.1"], "X-Forwarded-For: [2001:db8::1]:4711\r\n", "2001:db8::1 false"),
            (["127.0.0.1"], "X-Forwarded-For: 192.0.2.1, unknown\r\n", "127.0.0.1 false"),
            (["::/0"], "X-Forwarded-For: ::ffff:192.0.2.1\r\n", "192.0.2.1 false"),
        ]
        for one in cases {
            let server = try Server(trustedProxies: one.trusted) { request in
                .text(200, "\(request.peerAddress) \(request.isSecure)")
            }
            try await withServer(server) { server in
                let client = RawClient(port: server.port)
                client.send("GET /hook HTTP/1.1\r\nHost: x\r\n\(one.fields)\r\n")
                let body = client.answer().map { String(decoding: $0.body, as: UTF8.self) }
                #expect(body == one.says, "\(one.fields)")
            }
        }
    }
}
