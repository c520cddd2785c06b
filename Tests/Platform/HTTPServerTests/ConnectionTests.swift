import CLinux
import Glibc
import HTTPServer
import Locks
import Reactor
import Synchronization
import Testing

@Suite struct ConnectionTests {
    static let get = "GET /hook HTTP/1.1\r\nHost: x\r\n\r\n"

    @Test func `every answer carries its length, its date and the request's id`() async throws {
        let ids = Guarded<[String]>([])
        let server = try Server { request in
            ids.withLock { $0.append(request.requestID) }
            return .text(200, "hello")
        }
        try await withServer(server) { server in
            let client = RawClient(port: server.port)
            client.send(Self.get + Self.get + "GET /other HTTP/1.1\r\nHost: x\r\n\r\nbroken\r\n")
            var answers: [RawClient.Answer] = []
            while let answer = client.answer() { answers.append(answer) }
            #expect(answers.map(\.status) == [200, 200, 404, 400])
            #expect(answers[0].fields["content-length"] == "5")
            #expect(answers[0].fields["content-type"] == "text/plain; charset=utf-8")
            #expect(answers[0].body == Array("hello".utf8))
            #expect(answers.allSatisfy { $0.fields["date"]?.hasSuffix(" GMT") == true })
            let sent = answers.compactMap { $0.fields["x-request-id"] }
            #expect(Set(sent).count == 4)
            #expect(Array(sent.prefix(2)) == ids.withLock { $0 })
            #expect(answers.map { $0.fields["connection"] } == [nil, nil, nil, "close"])
        }
    }

    @Test func `HEAD, 204 and 304 have no body`() async throws {
        let server = try Server { request in
            let status = request.headers["X-Status"].flatMap { Int($0) } ?? 200
            return HTTPResponse(status: status, body: Array("hello".utf8))
        }
        try await withServer(server) { server in
            let client = RawClient(port: server.port)
            client.send("HEAD /hook HTTP/1.1\r\nHost: x\r\n\r\n")
            let head = try #require(client.answer(toHEAD: true))
            #expect(head.status == 200 && head.fields["content-length"] == "5")
            for status in [204, 304] {
                client.send("GET /hook HTTP/1.1\r\nHost: x\r\nX-Status: \(status)\r\n\r\n")
                let answer = try #require(client.answer())
                #expect(answer.status == status && answer.fields["content-length"] == nil)
            }
            client.send("GET /hook HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            #expect(client.statusesToEnd() == [200])
        }
    }

    @Test func `an answer cannot inject fields or its own framing`() async throws {
        let server = try Server { _ in
            HTTPResponse(
                status: 200,
                headers: [
                    HTTPField("X-Echo", "a\r\nX-Evil: b"), HTTPField("X Evil", "b"),
                    HTTPField("content-length", "999"), HTTPField("Transfer-Encoding", "chunked"),
                ])
        }
        try await withServer(server) { server in
            let client = RawClient(port: server.port)
            client.send(Self.get)
            let answer = try #require(client.answer())
            #expect(answer.fields["x-echo"] == "a  X-Evil: b")
            #expect(answer.fields["x-evil"] == nil && answer.fields["x evil"] == nil)
            #expect(answer.fields["content-length"] == "0")
            #expect(answer.fields["transfer-encoding"] == nil)
        }
    }

    @Test func `pipelined requests are handled one at a time and answered in order`()
        async throws
    {
        let running = Atomic(0)
        let most = Atomic(0)
        let server = try Server { request in
            let now = running.add(1, ordering: .relaxed).newValue
            most.max(now, ordering: .relaxed)
            await Task.yield()
            running.subtract(1, ordering: .relaxed)
            return .json(200, request.body)
        }
        try await withServer(server) { server in
            let client = RawClient(port: server.port)
            // More than the server reads ahead, so that its back-pressure is met too.
            let fill = String(repeating: "f", count: 2_000)
            client.send(
                (0..<100).map { number in
                    let body = "\(number) \(fill)"
                    return "POST /hook HTTP/1.1\r\nHost: x\r\n"
                        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
                }.joined())
            for number in 0..<100 {
                let answer = try #require(client.answer())
                #expect(answer.body.starts(with: "\(number) ".utf8))
            }
            #expect(most.load(ordering: .relaxed) == 1)
        }
    }

    @Test func `a client that goes away does not end the handler's work`() async throws {
        let began = Signal()
        let isGone = Signal()
        let isDone = Signal()
        let server = try Server { _ in
            began.give()
            await isGone.wait()
            isDone.give()
            return .text(200, "to nobody")
        }
        try await withServer(server) { server in
            let client = RawClient(port: server.port)
            client.send(Self.get)
            await began.wait()
            client.reset()
            isGone.give()
            await isDone.wait()
            await server.listener.drain(within: .seconds(10))
            #expect(server.listener.stats.runningHandlers == 0)
            #expect(server.listener.stats.openConnections == 0)
        }
    }

    @Test func `an idle connection is closed without a word`() async throws {
        var limits = HTTPLimits()
        limits.idleTimeout = .milliseconds(50)
        try await withServer(Server(limits: limits)) { server in
            let client = RawClient(port: server.port)
            client.send(Self.get)
            #expect(client.answer()?.status == 202)
            #expect(client.endsSilently())
        }
    }

    @Test func `a connection that never says anything is closed`() async throws {
        var limits = HTTPLimits()
        limits.headTimeout = .milliseconds(50)
        try await withServer(Server(limits: limits)) { server in
            #expect(RawClient(port: server.port).endsSilently())
            #expect(server.listener.stats.refusals == [:])
        }
    }

    @Test func `a handler that takes too long is answered 503`() async throws {
        var limits = HTTPLimits()
        limits.handlerTimeout = .milliseconds(50)
        let release = Signal()
        let server = try Server(limits: limits) { _ in
            await release.wait()
            return .text(200, "late")
        }
        try await withServer(server) { server in
            let client = RawClient(port: server.port)
            client.send(Self.get)
            let answer = client.answer()
            #expect(answer?.status == 503 && answer?.fields["retry-after"] == "1")
            #expect(client.endsSilently())
            release.give()
        }
    }

    @Test func `a client that does not read its answer is given up`() async throws {
        var limits = HTTPLimits()
        limits.writeTimeout = .milliseconds(50)
        let gaveUp = Signal()
        let big = [UInt8](repeating: 0x61, count: 8_000_000)
        let server = try Server(
            limits: limits,
            onRefusal: { refusal, peer in
                if refusal == .writeTimeout, peer == "127.0.0.1" { gaveUp.give() }
            }, handler: { _ in HTTPResponse(status: 200, body: big) })
        try await withServer(server) { server in
            let client = RawClient(port: server.port, receiveBuffer: 4_096)
            client.send(Self.get)
            await gaveUp.wait()
            #expect(server.listener.stats.refusals[.writeTimeout] == 1)
        }
    }

    @Test func `a large answer arrives whole over partial writes`() async throws {
        let big = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 % 251) }
        let server = try Server { _ in HTTPResponse(status: 200, body: big) }
        try await withServer(server) { server in
            let client = RawClient(port: server.port, receiveBuffer: 8_192)
            client.send(Self.get)
            #expect(client.answer()?.body == big)
        }
    }

    @Test(arguments: [128, 256])
    func `many keep-alive connections are all served, round after round`(
        _ count: Int
    ) async throws {
        try await withServer(Server()) { server in
            let clients = (0..<count).map { _ in RawClient(port: server.port) }
            for _ in 0..<5 {
                for client in clients { client.send(HostileTable.whole) }
                for client in clients { #expect(client.answer()?.status == 202) }
            }
            #expect(server.listener.stats.openConnections == count)
            #expect(server.listener.stats.answers == [202: 5 * count])
        }
    }

    @Test func `at the bound the longest idle connection makes room`() async throws {
        var limits = HTTPLimits()
        limits.maximumConnections = 2
        try await withServer(Server(limits: limits)) { server in
            let clients = [RawClient(port: server.port), RawClient(port: server.port)]
            for client in clients {
                client.send(Self.get)
                #expect(client.answer()?.status == 202)
            }
            let newcomer = RawClient(port: server.port)
            newcomer.send(Self.get)
            #expect(newcomer.answer()?.status == 202)
            #expect(clients[0].endsSilently())
            #expect(server.listener.stats.openConnections == 2)
            #expect(server.listener.stats.refusals == [.tooManyConnections: 1])
        }
    }

    @Test func `at the bound with nobody idle a newcomer waits its turn`() async throws {
        var limits = HTTPLimits()
        limits.maximumConnections = 1
        let began = Signal()
        let isFull = Signal()
        let release = Signal()
        let server = try Server(
            limits: limits,
            onRefusal: { refusal, _ in if refusal == .tooManyConnections { isFull.give() } },
            handler: { _ in
                began.give()
                await release.wait()
                return .text(200, "")
            })
        try await withServer(server) { server in
            let first = RawClient(port: server.port)
            first.send("GET /hook HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            await began.wait()
            let second = RawClient(port: server.port)
            second.send(Self.get)
            await isFull.wait()
            release.give()
            #expect(first.statusesToEnd() == [200])
            first.finishSending()
            #expect(second.answer()?.status == 200)
        }
    }

    @Test func `without descriptors accepting pauses, then goes on`() async {
        await #expect(processExitsWith: .success) {
            let isOut = Signal()
            let server = try Server(
                onRefused: { refusal, _ in if refusal == .noDescriptors { isOut.give() } })
            var limit = rlimit(rlim_cur: 64, rlim_max: 64)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var taken: [Int32] = []
            while case let copy = dup(client), copy >= 0 { taken.append(copy) }
            let raw = RawClient(port: server.port, descriptor: client)
            raw.send(ConnectionTests.get)
            await isOut.wait()
            for copy in taken { close(copy) }
            guard raw.answer()?.status == 202 else { exit(1) }
            guard let pauses = server.listener.stats.refusals[.noDescriptors], pauses < 100 else {
                exit(2)
            }
            exit(0)
        }
    }
}
