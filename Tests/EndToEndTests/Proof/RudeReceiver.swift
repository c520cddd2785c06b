import Crypto
import Glibc
import Locks

/// A receiver that fails, hangs, and hangs up after it acted, as a share of its requests; on threads of
/// its own, so that what it does to connections disturbs nobody else.
final class RudeReceiver: Sendable {
    /// What was done with one request.
    enum Behaviour: Hashable {
        case answered
        /// 500; nothing was done.
        case failed
        /// Nothing was done and nothing is answered, until the caller gives up.
        case hung
        /// It was done; the connection ended without an answer.
        case dropped
    }

    struct Request: Sendable {
        let path: String
        let key: String
        let behaviour: Behaviour
    }

    let port: UInt16
    private let socket: Int32
    private let kept = Guarded<[Request]>([])
    private let counts = Guarded<[String: Int]>([:])
    private let seed: UInt64

    init(seed: UInt64) throws {
        self.seed = seed
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = socket
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { place in
                bind(listener, place, length) == 0 && listen(listener, 512) == 0
                    && getsockname(listener, place, &length) == 0
            }
        }
        guard status else { throw World.Failure(what: "no receiver: errno \(errno)") }
        port = address.sin_port.bigEndian
        Self.run { [self] in acceptAll() }
    }

    /// Every request so far, in order of arrival.
    var requests: [Request] { kept.withLock { $0 } }

    /// Of a hundred requests; a little less than what it is to do.
    static let leastShares: [(Behaviour, Int)] = [(.failed, 26), (.hung, 3), (.dropped, 5)]

    func stop() { shutdown(socket, Int32(SHUT_RDWR)) }

    // MARK: Connections

    private func acceptAll() {
        while true {
            let connection = accept(socket, nil, nil)
            if connection >= 0 {
                Self.run { [self] in
                    serve(connection)
                    close(connection)
                }
            } else if errno != EINTR, errno != ECONNABORTED {
                close(socket)
                return
            }
        }
    }

    private func serve(_ connection: Int32) {
        var buffer: [UInt8] = []
        while let (head, body) = Self.readRequest(connection, &buffer) {
            let path = head.split(separator: " ").dropFirst().first.map(String.init) ?? ""
            let key = Self.field("idempotency-key", in: head) ?? ""
            _ = body
            let behaviour = choose(key)
            kept.withLock { $0.append(Request(path: path, key: key, behaviour: behaviour)) }
            switch behaviour {
            case .answered: Self.answer(connection, 200, #"{"done":true}"#)
            case .failed: Self.answer(connection, 500, #"{"done":false}"#)
            case .hung:
                var waiting = pollfd(fd: connection, events: hungUp, revents: 0)
                poll(&waiting, 1, 20_000)
                return
            case .dropped: return
            }
        }
    }

    /// `POLLRDHUP`: the other side will send nothing more.
    private var hungUp: Int16 { 0x2000 }

    /// By key and count, so that a seed gives the same world again.
    private func choose(_ key: String) -> Behaviour {
        let count = counts.withLock { counts in
            counts[key, default: 0] += 1
            return counts[key] ?? 0
        }
        let digest = SHA256.digest(Array("\(seed) \(key) \(count)".utf8))
        switch (Int(digest[0]) << 8 | Int(digest[1])) % 100 {
        case ..<30: return .failed
        case ..<35: return .hung
        case ..<43: return .dropped
        default: return .answered
        }
    }

    // MARK: HTTP, as far as it is needed

    private static func readRequest(
        _ connection: Int32, _ buffer: inout [UInt8]
    ) -> (head: String, body: [UInt8])? {
        while true {
            if let end = endOfHead(buffer) {
                let head = String(decoding: buffer[..<end], as: UTF8.self)
                let length = field("content-length", in: head).flatMap { Int($0) } ?? 0
                if buffer.count >= end + length {
                    let body = Array(buffer[end..<end + length])
                    buffer.removeFirst(end + length)
                    return (head, body)
                }
            }
            var chunk = [UInt8](repeating: 0, count: 16_384)
            let count = recv(connection, &chunk, chunk.count, 0)
            guard count > 0, buffer.count < 1 << 20 else { return nil }
            buffer += chunk[..<count]
        }
    }

    private static func endOfHead(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= 4 else { return nil }
        for index in 3..<bytes.count
        where bytes[index] == 10 && bytes[index - 1] == 13 && bytes[index - 2] == 10 {
            return index + 1
        }
        return nil
    }

    private static func field(_ name: String, in head: String) -> String? {
        for line in head.split(separator: "\r\n") {
            guard let colon = line.firstIndex(of: ":"), line[..<colon].lowercased() == name
            else { continue }
            return String(line[line.index(after: colon)...].drop { $0 == " " })
        }
        return nil
    }

    private static func answer(_ connection: Int32, _ status: Int, _ body: String) {
        let text =
            "HTTP/1.1 \(status) X\r\nContent-Type: application/json\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        let bytes = Array(text.utf8)
        _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    // MARK: Threads

    private final class Work {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private static func run(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let work = Unmanaged.passRetained(Work(body)).toOpaque()
        let status = pthread_create(&thread, nil, threadMain, work)
        precondition(status == 0, "no thread: \(status)")
        pthread_detach(thread)
    }

    fileprivate static func perform(_ work: UnsafeMutableRawPointer) {
        Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body()
    }
}

/// A C callback, hence outside any isolation.
private func threadMain(_ work: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let work { RudeReceiver.perform(work) }
    return nil
}
