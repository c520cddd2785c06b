import HTTPClient
import Reactor
import Testing

@Suite struct TLSTests {
    @Test func `a self-signed certificate is refused and nothing sent`() async throws {
        let server = try TLSServer()
        defer { server.stop() }
        let loop = EventLoop()
        defer { loop.stop() }
        let transport = HTTPTransport(loop: loop, userAgent: "tests/1")
        let outcome = await outcome(of: call(to: "localhost", server), by: transport)
        await transport.shutdown()
        guard case .failure(let error) = outcome, case .tls(let reason) = error.kind else {
            Issue.record("\(outcome)")
            return
        }
        #expect(reason.contains("self-signed") || reason.contains("self signed"))
        #expect(!error.requestMayHaveBeenSent)
    }

    @Test func `a trusted certificate is accepted for its own name only`() async throws {
        let server = try TLSServer()
        defer { server.stop() }
        let loop = EventLoop()
        defer { loop.stop() }
        let transport = HTTPTransport(
            loop: loop, userAgent: "tests/1", authorityFile: server.certificateFile)
        let good = await outcome(of: call(to: "localhost", server), by: transport)
        let wrongName = await outcome(of: call(to: "127.0.0.1", server), by: transport)
        await transport.shutdown()
        #expect(try good.get().status == 200)
        guard case .failure(let error) = wrongName, case .tls = error.kind else {
            Issue.record("\(wrongName)")
            return
        }
        #expect(!error.requestMayHaveBeenSent)
    }

    @Test func `a server that does not speak TLS is refused and nothing sent`() async throws {
        try await ClientWorld.run { connection in
            connection.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            connection.waitForClose()
        } body: { world in
            var call = world.call()
            call.url = "https://127.0.0.1:\(world.receiver.port)/"
            let error = try await world.failure(call)
            guard case .tls = error.kind else {
                Issue.record("\(error)")
                return
            }
            #expect(!error.requestMayHaveBeenSent)
        }
    }

    private func call(to host: String, _ server: TLSServer) -> HTTPCall {
        HTTPCall(
            method: "GET", url: "https://\(host):\(server.port)/", timeout: .seconds(30),
            destination: DestinationPolicy(allowsPrivate: true))
    }

    private func outcome(
        of call: HTTPCall, by transport: HTTPTransport
    ) async -> Result<HTTPAnswer, HTTPClientError> {
        do throws(HTTPClientError) {
            return .success(try await transport.send(call))
        } catch {
            return .failure(error)
        }
    }
}
