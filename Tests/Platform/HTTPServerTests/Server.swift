import HTTPServer
import Reactor

/// A listener on a loop of its own, and its end.
struct Server {
    let loop = EventLoop()
    let listener: HTTPListener
    let port: UInt16

    init(
        address: String = "127.0.0.1:0", limits: HTTPLimits = HTTPLimits(), tls: HTTPTLS? = nil,
        trustedProxies: [String] = [], onRefusal: HTTPListener.RefusalHook? = nil,
        decideEarly: HTTPListener.EarlyDecision? = Server.route,
        handler: @escaping HTTPListener.Handler
    ) throws {
        listener = HTTPListener(
            loop: loop, address: address, limits: limits, tls: tls,
            trustedProxies: trustedProxies, onRefusal: onRefusal, decideEarly: decideEarly,
            handler: handler)
        port = try listener.start()
    }

    /// Answers 202 to everything on "/hook".
    init(
        address: String = "127.0.0.1:0", limits: HTTPLimits = HTTPLimits(), tls: HTTPTLS? = nil,
        trustedProxies: [String] = [], onRefused: HTTPListener.RefusalHook? = nil
    ) throws {
        try self.init(
            address: address, limits: limits, tls: tls, trustedProxies: trustedProxies,
            onRefusal: onRefused, handler: { .json(202, Array("{}".utf8) + $0.body) })
    }

    static let route: HTTPListener.EarlyDecision = { head in
        head.path == "/hook" ? nil : .text(404, "no such path")
    }

    /// Drains and ends the loop; the last thing a test does.
    func stop() async {
        await listener.drain(within: .seconds(10))
        loop.stop()
    }
}

/// Runs a test's body against a server, which is stopped whatever happens.
func withServer(
    _ server: Server, _ body: (Server) async throws -> Void
) async throws {
    do {
        try await body(server)
    } catch {
        await server.stop()
        throw error
    }
    await server.stop()
}
