import CLinux
import Glibc
import HTTPClient
import Reactor
import Testing

func setProxyVariables(_ url: String) {
    for name in ["http_proxy", "https_proxy", "all_proxy", "ALL_PROXY"] { setenv(name, url, 1) }
}

@Suite struct TransportFailureTests {
    @Test func `a silent server is a timeout after which the request may have been sent`()
        async throws
    {
        try await ClientWorld.run { connection in
            connection.readRequest()
            connection.waitForClose()
        } body: { world in
            let error = try await world.failure(world.call(timeout: .milliseconds(300)))
            #expect(error.kind == .timedOut)
            #expect(error.requestMayHaveBeenSent)
            #expect(error.host == "127.0.0.1")
        }
    }

    @Test func `an answer in drips is cut at the time limit`() async throws {
        try await ClientWorld.run { connection in
            connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
            while !connection.hasEvent(withinMilliseconds: 20), connection.send("x") {}
        } body: { world in
            let error = try await world.failure(world.call(timeout: .milliseconds(300)))
            #expect(error.kind == .timedOut)
            #expect(error.requestMayHaveBeenSent)
        }
    }

    @Test(arguments: [
        "", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", "HTTP/1.1 200 OK\r\nX: 1\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", "SSH-2.0-OpenSSH_9\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ])
    func `what is no whole answer is a broken connection`(bytes: String) async throws {
        try await ClientWorld.run { connection in
            connection.readRequest()
            connection.send(bytes)
        } body: { world in
            let error = try await world.failure(world.call())
            #expect(error.kind == .brokenConnection)
            #expect(error.requestMayHaveBeenSent)
            #expect(world.receiver.requests.count == 1)
        }
    }

    @Test func `an answer with an endless head is given up`() async throws {
        try await ClientWorld.run { connection in
            connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\n")
            while connection.send("X-More: 0123456789012345678901234567890123456789\r\n") {}
        } body: { world in
            let error = try await world.failure(world.call())
            #expect(error.kind == .brokenConnection)
            #expect(error.detail == "the head of the answer is longer than 64 KiB")
        }
    }

    @Test func `a connection closed unread sends the caller no false certainty`() async throws {
        try await ClientWorld.run { _ in
        } body: { world in
            let error = try await world.failure(world.call())
            #expect(error.kind == .brokenConnection)
            #expect(error.requestMayHaveBeenSent)
        }
    }

    @Test func `a refused connection sent nothing`() async throws {
        let (descriptor, port) = boundSocket()
        defer { close(descriptor) }
        try await ClientWorld.run { world in
            var call = world.call()
            call.url = "http://127.0.0.1:\(port)/"
            let error = try await world.failure(call)
            #expect(error.kind == .connectFailed)
            #expect(!error.requestMayHaveBeenSent)
        }
    }

    @Test func `a connection that is never accepted is a timeout that sent nothing`() async throws {
        let (listener, port) = boundSocket()
        #expect(listen(listener, 0) == 0)
        // They fill the queue; the kernel then leaves further ones unanswered.
        let fillers = (0..<4).map { _ in
            let filler = socket(
                AF_INET,
                Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
            var address = loopback(port: port)
            _ = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(filler, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            return filler
        }
        defer { for descriptor in fillers + [listener] { close(descriptor) } }
        try await ClientWorld.run { world in
            var call = world.call()
            call.url = "http://127.0.0.1:\(port)/"
            call.connectTimeout = .milliseconds(200)
            let error = try await world.failure(call)
            #expect(error.kind == .timedOut)
            #expect(!error.requestMayHaveBeenSent)
        }
    }

    @Test func `a TLS handshake that is not answered sent nothing`() async throws {
        try await ClientWorld.run { connection in
            connection.waitForClose()
        } body: { world in
            var call = world.call(timeout: .milliseconds(300))
            call.url = "https://127.0.0.1:\(world.receiver.port)/"
            let error = try await world.failure(call)
            #expect(error.kind == .timedOut)
            #expect(!error.requestMayHaveBeenSent)
        }
    }

    @Test func `a name without an address is unresolved`() async throws {
        try await ClientWorld.run { world in
            var call = world.call()
            // A label longer than 63 bytes is refused before any question leaves the machine.
            call.url = "http://\(String(repeating: "a", count: 64)).invalid/"
            let error = try await world.failure(call)
            #expect(error.kind == .unresolvedHost)
            #expect(!error.requestMayHaveBeenSent)
        }
    }

    @Test func `a request swallowed by a kept connection is not sent again`() async throws {
        try await ClientWorld.run { connection in
            guard connection.readRequest() != nil else { return }
            connection.answer("first")
            connection.readRequest()
        } body: { world in
            #expect(try await world.send(world.call()).status == 200)
            let error = try await world.failure(world.call(path: "/second"))
            #expect(error.kind == .brokenConnection)
            #expect(error.requestMayHaveBeenSent)
            #expect(
                world.receiver.requests.map(\.firstLine) == [
                    "POST /hook HTTP/1.1", "POST /second HTTP/1.1",
                ])
        }
    }

    @Test func `a kept connection that was closed meanwhile is replaced`() async throws {
        let (closings, closed) = AsyncStream.makeStream(of: Void.self)
        try await ClientWorld.run { connection in
            guard connection.readRequest() != nil else { return }
            connection.answer("once")
            shutdown(connection.descriptor, Int32(SHUT_RDWR))
            closed.yield()
        } body: { world in
            var iterator = closings.makeAsyncIterator()
            let first = try await world.send(world.call())
            await iterator.next()
            let second = try await world.send(world.call())
            #expect(first.status == 200 && second.status == 200)
            #expect(world.receiver.connectionCount == 2)
        }
    }

    @Test func `calls beyond the limit fail at once`() async throws {
        try await ClientWorld.run(maximumConcurrentCalls: 2) { connection in
            connection.readRequest()
            connection.waitForClose()
        } body: { world in
            let waiting = (0..<2).map { _ in Task { try await world.failure(world.call()) } }
            await world.waitForRequests(2)
            let error = try await world.failure(world.call())
            #expect(error.kind == .tooManyCalls)
            #expect(!error.requestMayHaveBeenSent)
            for task in waiting { task.cancel() }
            for task in waiting { #expect(try await task.value.kind == .cancelled) }
        }
    }

    @Test(arguments: [false, true])
    func `cancelling the task aborts the transfer`(isOnLoop: Bool) async throws {
        let (closings, closed) = AsyncStream.makeStream(of: Void.self)
        try await ClientWorld.run { connection in
            connection.readRequest()
            connection.waitForClose()
            closed.yield()
        } body: { world in
            let task = Task(executorPreference: isOnLoop ? world.loop.tasks : nil) {
                try await world.failure(world.call())
            }
            await world.waitForRequests(1)
            task.cancel()
            let error = try await task.value
            #expect(error.kind == .cancelled)
            #expect(error.requestMayHaveBeenSent)
            var iterator = closings.makeAsyncIterator()
            await iterator.next()
        }
    }

    @Test func `a task cancelled before sends nothing`() async throws {
        try await ClientWorld.run { world in
            let error = try await Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await world.failure(world.call())
            }.value
            #expect(error.kind == .cancelled)
            #expect(!error.requestMayHaveBeenSent)
            #expect(world.receiver.connectionCount == 0)
        }
    }

    @Test func `a shutdown ends running calls and refuses later ones`() async throws {
        try await ClientWorld.run { connection in
            connection.readRequest()
            connection.waitForClose()
        } body: { world in
            let task = Task { try await world.failure(world.call()) }
            await world.waitForRequests(1)
            await world.transport.shutdown()
            let running = try await task.value
            #expect(running.kind == .cancelled && running.requestMayHaveBeenSent)
            let late = try await world.failure(world.call())
            #expect(late.kind == .cancelled && !late.requestMayHaveBeenSent)
        }
    }

    @Test func `a transport that is dropped leaves nothing behind`() async throws {
        let loop = EventLoop()
        let receiver = RawReceiver { connection in
            connection.readRequest()
            connection.answer("kept")
            connection.waitForClose()
        }
        do {
            let transport = HTTPTransport(loop: loop, userAgent: "tests/1")
            let answer = try await transport.send(
                HTTPCall(url: receiver.url, destination: DestinationPolicy(allowsPrivate: true)))
            #expect(answer.status == 200)
        }
        await loop.run {}
        loop.stop()
        receiver.stop()
    }

    @Test func `an error says the fact, the host and the next step without the path`() async throws
    {
        let (descriptor, port) = boundSocket()
        defer { close(descriptor) }
        try await ClientWorld.run { world in
            var call = world.call()
            call.url = "http://127.0.0.1:\(port)/secret-token?key=secret"
            let text = try await world.failure(call).description
            #expect(text.hasPrefix("The HTTP call to 127.0.0.1 failed because no connection"))
            #expect(text.hasSuffix("; nothing was sent; check that the host is up and reachable."))
            #expect(!text.contains("secret"))
        }
    }
}
