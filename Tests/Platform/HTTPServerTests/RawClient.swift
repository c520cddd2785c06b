import CLinux
import Glibc

/// A client that sends exactly the bytes it is told to, and reads until it has what it waits for.
///
/// Every wait ends after ten seconds, with less than was waited for.
final class RawClient {
    struct Answer: Equatable {
        var status: Int
        var fields: [String: String]
        var body: [UInt8]
    }

    let descriptor: Int32
    private var received: [UInt8] = []
    /// The server closed its side, in order.
    private(set) var sawEnd = false
    /// The connection was reset.
    private(set) var sawReset = false

    /// - Parameter descriptor: a socket made before; nil makes one.
    init(
        port: UInt16, isIPv6: Bool = false, receiveBuffer: Int32? = nil, descriptor: Int32? = nil
    ) {
        self.descriptor =
            descriptor ?? socket(isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let descriptor = self.descriptor
        if var receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, 4)
        }
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(
            descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        if isIPv6 {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_addr = in6addr_loopback
            connect(&address)
        } else {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            connect(&address)
        }
    }

    private func connect<Address>(_ address: inout Address) {
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
        if status != 0 { sawReset = true }
    }

    deinit { close(descriptor) }

    func send(_ text: String) { send(Array(text.utf8)) }

    /// Sends what the server still takes; a reset is noted, not reported.
    func send(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                Glibc.send(
                    descriptor, buffer.baseAddress.map { $0 + sent }, bytes.count - sent,
                    Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Ends the connection with a reset, as a client that crashes does.
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        var nothing = sockaddr()
        nothing.sa_family = sa_family_t(AF_UNSPEC)
        Glibc.connect(descriptor, &nothing, socklen_t(MemoryLayout<sockaddr>.size))
    }

    /// The next answer, "100 Continue" included; nil when the connection ends before it is whole.
    func answer(toHEAD: Bool = false) -> Answer? {
        while true {
            if let answer = takeAnswer(toHEAD: toHEAD) { return answer }
            guard receive() else { return nil }
        }
    }

    /// Answers until the connection ends, and how it ended.
    func statusesToEnd() -> [Int] {
        while receive() {}
        var statuses: [Int] = []
        while let answer = takeAnswer(toHEAD: false) { statuses.append(answer.status) }
        return statuses
    }

    /// True when the server closes without another byte.
    func endsSilently() -> Bool {
        while receive() {}
        return received.isEmpty && sawEnd
    }

    private func receive() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count > 0 {
            received.append(contentsOf: buffer[..<count])
            return true
        }
        if count == 0 { sawEnd = true } else { sawReset = errno != EAGAIN }
        return false
    }

    private func takeAnswer(toHEAD: Bool) -> Answer? {
        guard let (answer, used) = Self.parse(received, toHEAD: toHEAD) else { return nil }
        received.removeFirst(used)
        return answer
    }

    static func parse(_ bytes: [UInt8], toHEAD: Bool) -> (Answer, Int)? {
        var lines: [String] = []
        var start = 0
        while true {
            guard let end = bytes[start...].firstIndex(of: 10), end > start else { return nil }
            let line = String(decoding: bytes[start..<(end - 1)], as: UTF8.self)
            start = end + 1
            if line.isEmpty { break }
            lines.append(line)
        }
        let words = lines[0].split(separator: " ")
        guard words.count > 1, let status = Int(words[1]) else { return nil }
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            fields[parts[0].lowercased()] = String(parts[1].dropFirst())
        }
        let length = toHEAD ? 0 : fields["content-length"].flatMap { Int($0) } ?? 0
        guard bytes.count >= start + length else { return nil }
        let body = Array(bytes[start..<(start + length)])
        return (Answer(status: status, fields: fields, body: body), start + length)
    }
}
