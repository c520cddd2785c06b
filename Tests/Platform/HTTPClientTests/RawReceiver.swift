import CLinux
import Glibc
import Locks

/// A listening socket on loopback that treats every connection as a script says, also badly.
///
/// One blocking thread a connection, on purpose nothing of the code under test.
final class RawReceiver: Sendable {
    typealias Script = @Sendable (RawConnection) -> Void

    private struct State {
        var isStopping = false
        var descriptors: [Int32] = []
        var threads: [pthread_t] = []
        var requests: [RawRequest] = []
    }

    let port: UInt16
    /// Every request as soon as it is read whole.
    let arrivals: AsyncStream<RawRequest>
    private let arrived: AsyncStream<RawRequest>.Continuation
    private let listener: Int32
    private let script: Script
    private let state = Guarded(State())

    init(script: @escaping Script) {
        self.script = script
        (arrivals, arrived) = AsyncStream.makeStream()
        (listener, port) = boundSocket()
        precondition(listen(listener, 128) == 0, "cannot listen on loopback")
        spawn { $0.accept() }
    }

    var url: String { "http://127.0.0.1:\(port)" }
    var requests: [RawRequest] { state.withLock { $0.requests } }
    var connectionCount: Int { state.withLock { $0.descriptors.count } }

    /// Ends every connection and waits for every thread.
    func stop() {
        let descriptors = state.withLock { state in
            state.isStopping = true
            return state.descriptors
        }
        shutdown(listener, Int32(SHUT_RDWR))
        for descriptor in descriptors { shutdown(descriptor, Int32(SHUT_RDWR)) }
        while let thread = state.withLock({ $0.threads.popLast() }) { pthread_join(thread, nil) }
        for descriptor in descriptors { close(descriptor) }
        close(listener)
        arrived.finish()
    }

    fileprivate func record(_ request: RawRequest) {
        state.withLock { $0.requests.append(request) }
        arrived.yield(request)
    }

    private func accept() {
        while true {
            let descriptor = accept4(listener, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
            guard descriptor >= 0 else { return }
            let isWanted = state.withLock { state in
                if !state.isStopping { state.descriptors.append(descriptor) }
                return !state.isStopping
            }
            guard isWanted else {
                close(descriptor)
                return
            }
            spawn { receiver in
                receiver.script(RawConnection(descriptor: descriptor, receiver: receiver))
                // The descriptor stays until the end, so that its number is not used again.
                shutdown(descriptor, Int32(SHUT_RDWR))
            }
        }
    }

    private func spawn(_ body: @escaping @Sendable (RawReceiver) -> Void) {
        let start = Unmanaged.passRetained(ThreadStart { [self] in body(self) })
        state.withLock { state in
            var thread = pthread_t()
            let status = pthread_create(
                &thread, nil,
                { argument in
                    guard let argument else { return nil }
                    Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue().body()
                    return nil
                }, start.toOpaque())
            precondition(status == 0, "no thread for a test server")
            state.threads.append(thread)
        }
    }
}

private final class ThreadStart: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// A request as it came over the wire.
struct RawRequest: Sendable {
    let head: String
    let body: [UInt8]

    var firstLine: String { String(head.prefix { $0 != "\r\n" }) }
    var lines: [String] { head.split(separator: "\r\n").dropFirst().map(String.init) }

    func has(_ name: String) -> Bool {
        lines.contains { $0.lowercased().hasPrefix(name.lowercased() + ":") }
    }
}

/// The server's end of one connection; every method blocks.
struct RawConnection: Sendable {
    let descriptor: Int32
    let receiver: RawReceiver

    /// Nil when the other side closed before a whole request.
    @discardableResult
    func readRequest() -> RawRequest? {
        var bytes: [UInt8] = []
        let end = Array("\r\n\r\n".utf8)
        while !bytes.suffix(4).elementsEqual(end) {
            guard let byte = readBytes(1) else { return nil }
            bytes += byte
        }
        let head = String(decoding: bytes.dropLast(4), as: UTF8.self)
        var body: [UInt8] = []
        for line in head.split(separator: "\r\n")
        where line.lowercased().hasPrefix("content-length:") {
            let length = Int(line.dropFirst(15).drop { $0 == " " }) ?? 0
            guard let rest = readBytes(length) else { return nil }
            body = rest
        }
        let request = RawRequest(head: head, body: body)
        receiver.record(request)
        return request
    }

    private func readBytes(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let length = count == 0 ? 0 : recv(descriptor, &bytes, count, Int32(MSG_WAITALL))
        return length == count ? bytes : nil
    }

    /// False when the other side is gone.
    @discardableResult
    func send(_ text: String) -> Bool {
        let bytes = [UInt8](text.utf8)
        var start = 0
        while start < bytes.count {
            let count = bytes[start...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            start += count
        }
        return true
    }

    func answer(_ body: String, status: String = "200 OK", headers: String = "") {
        send("HTTP/1.1 \(status)\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    /// Reads and ignores until the other side closes.
    func waitForClose() {
        while readBytes(1) != nil {}
    }

    /// Whether the other side closed within the time or sent something.
    func hasEvent(withinMilliseconds time: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, time) != 0
    }
}

/// A loopback socket with a port of its own that does not listen: connecting to it is refused.
func boundSocket() -> (descriptor: Int32, port: UInt16) {
    let descriptor = socket(
        AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = loopback(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(descriptor, $0, length) + getsockname(descriptor, $0, &length)
        }
    }
    precondition(descriptor >= 0 && status == 0, "no port left on loopback")
    return (descriptor, UInt16(bigEndian: address.sin_port))
}

/// 127.0.0.1 with a port.
func loopback(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return address
}
