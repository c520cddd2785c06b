internal import CommandLine
internal import HTTPServer
internal import JSON
internal import Reactor

/// Where `dev`'s actions go: it answers every request with 200 and prints what came.
struct DevReceiver {
    private let listener: HTTPListener

    init(loop: EventLoop, terminal: Terminal) {
        listener = HTTPListener(loop: loop, address: "127.0.0.1:0") { request in
            let id = request.headers["Idempotency-Key"] ?? "none"
            let body = String(decoding: request.body.prefix(2_000), as: UTF8.self)
            terminal.output.write(
                "received   \(request.method) \(printable(request.path)) "
                    + "key \(printable(String(id.prefix(12))))… \(printable(body))\n")
            let answer: JSONValue = ["received": true]
            return .json(200, answer.bytes)
        }
    }

    func start() throws(HTTPServerError) -> UInt16 { try listener.start() }
}
