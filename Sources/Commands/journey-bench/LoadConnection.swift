internal import CLinux
internal import Glibc

/// A socket with at most one request on its way. Loop thread only, which is what makes it safe to hand
/// to the loop's handler.
final class LoadConnection: @unchecked Sendable {
    enum Sending { case done, waiting, lost }
    enum Receiving { case incomplete, lost, answer(status: Int) }

    let descriptor: Int32
    /// When the request that is on its way was begun.
    private(set) var began = ContinuousClock.now
    /// The answer received last, for a failure's sentence.
    private(set) var lastAnswer = ""
    private var outgoing: [UInt8] = []
    private var sentBytes = 0
    private var incoming: [UInt8] = []

    var isSending: Bool { sentBytes < outgoing.count }

    init(port: UInt16) throws(BenchFailure) {
        descriptor = socket(
            AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let descriptor = descriptor
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { general in
                connect(descriptor, general, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard descriptor >= 0, isConnected else {
            throw BenchFailure(
                description: "no connection to port \(port): \(String(cString: strerror(errno)))")
        }
        var yes: Int32 = 1
        setsockopt(
            descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes,
            socklen_t(MemoryLayout<Int32>.size))
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    func close() { _ = Glibc.close(descriptor) }

    /// Takes a request to be sent with ``flush()``.
    func begin(_ request: [UInt8]) {
        outgoing = request
        sentBytes = 0
        began = .now
    }

    func flush() -> Sending {
        while isSending {
            let count = outgoing.withUnsafeBytes { buffer in
                Glibc.send(
                    descriptor, buffer.baseAddress?.advanced(by: sentBytes),
                    buffer.count - sentBytes, Int32(MSG_NOSIGNAL))
            }
            if count > 0 {
                sentBytes += count
            } else if errno == EAGAIN {
                return .waiting
            } else if errno != EINTR {
                return .lost
            }
        }
        return .done
    }

    func receive() -> Receiving {
        let count = withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 1) { buffer in
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 { incoming.append(contentsOf: buffer[..<count]) }
            return count
        }
        if count == 0 || count < 0 && errno != EAGAIN && errno != EINTR { return .lost }
        guard let length = wholeLength, incoming.count >= length else { return .incomplete }
        lastAnswer = String(decoding: incoming.prefix(400), as: UTF8.self)
        let status = Int(String(decoding: incoming.dropFirst(9).prefix(3), as: UTF8.self)) ?? 0
        incoming.removeFirst(length)
        return .answer(status: status)
    }

    private static let headEnd = Array("\r\n\r\n".utf8)
    private static let lengthName = Array("content-length:".utf8)

    /// Bytes of the head and the body it announces; nil before the head is whole.
    private var wholeLength: Int? {
        guard let end = Self.place(of: Self.headEnd, in: incoming[...]) else { return nil }
        let head = incoming[..<end]
        guard let name = Self.place(of: Self.lengthName, in: head) else { return end + 4 }
        let digits = head[(name + Self.lengthName.count)...].drop { $0 == UInt8(ascii: " ") }
            .prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return end + 4 + (Int(String(decoding: digits, as: UTF8.self)) ?? 0)
    }

    /// - Parameter sought: in lower case; the text may be in any.
    private static func place(of sought: [UInt8], in text: ArraySlice<UInt8>) -> Int? {
        text.withUnsafeBufferPointer { text in
            guard text.count >= sought.count else { return nil }
            return (0...text.count - sought.count).first { start in
                sought.indices.allSatisfy { index in
                    let byte = text[start + index]
                    let isCapital = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                    return (isCapital ? byte | 0x20 : byte) == sought[index]
                }
            }
        }
    }
}
