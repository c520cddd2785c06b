import HTTPClient
import Reactor
import Testing

/// A loop, a transport on it and a receiver, made for one test.
struct ClientWorld: Sendable {
    let loop: EventLoop
    let transport: HTTPTransport
    let receiver: RawReceiver

    static func run(
        maximumConcurrentCalls: Int = 256, script: @escaping RawReceiver.Script = { _ in },
        body: (ClientWorld) async throws -> Void
    ) async throws {
        let loop = EventLoop()
        let receiver = RawReceiver(script: script)
        let transport = HTTPTransport(
            loop: loop, maximumConcurrentCalls: maximumConcurrentCalls, userAgent: "tests/1")
        let result: Result<Void, any Error>
        do {
            result = .success(
                try await body(ClientWorld(loop: loop, transport: transport, receiver: receiver)))
        } catch {
            result = .failure(error)
        }
        await transport.shutdown()
        loop.stop()
        receiver.stop()
        try result.get()
    }

    /// A call to the receiver, which a private address must be allowed for.
    func call(
        _ method: String = "POST", path: String = "/hook", headers: [HTTPHeaderField] = [],
        body: [UInt8]? = nil, timeout: Duration = .seconds(30), maximumResponse: Int = 262_144
    ) -> HTTPCall {
        HTTPCall(
            method: method, url: receiver.url + path, headers: headers, body: body,
            timeout: timeout, maximumResponse: maximumResponse,
            destination: DestinationPolicy(allowsPrivate: true))
    }

    func send(_ call: HTTPCall) async throws -> HTTPAnswer { try await transport.send(call) }

    /// The error of a call that must fail.
    func failure(_ call: HTTPCall) async throws -> HTTPClientError {
        let answer: HTTPAnswer
        do throws(HTTPClientError) {
            answer = try await transport.send(call)
        } catch {
            return error
        }
        throw UnexpectedAnswer(status: answer.status)
    }

    /// Waits until the receiver has read that many requests more.
    func waitForRequests(_ count: Int) async {
        var iterator = receiver.arrivals.makeAsyncIterator()
        for _ in 0..<count { _ = await iterator.next() }
    }
}

/// A call that had to fail was answered.
struct UnexpectedAnswer: Error {
    let status: Int
}
