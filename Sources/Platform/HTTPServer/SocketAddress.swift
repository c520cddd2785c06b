internal import CLinux
internal import Glibc

/// An IPv4 or IPv6 address as sixteen bytes; IPv4 in its mapped form, so that "::ffff:10.0.0.1" and
/// "10.0.0.1" are one address.
struct InternetAddress: Sendable, Hashable {
    let high: UInt64
    let low: UInt64

    private static let mapped: UInt64 = 0x0000_FFFF_0000_0000

    init?(_ text: String) {
        var four = in_addr()
        var six = in6_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            self.init(four)
        } else if inet_pton(AF_INET6, text, &six) == 1 {
            self.init(six)
        } else {
            return nil
        }
    }

    init(_ address: in_addr) {
        high = 0
        low = Self.mapped | UInt64(UInt32(bigEndian: address.s_addr))
    }

    init(_ address: in6_addr) {
        (high, low) = withUnsafeBytes(of: address) { bytes in
            (
                UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }

    /// The peer of an accepted connection.
    init?(_ storage: sockaddr_storage) {
        switch Int32(storage.ss_family) {
        case AF_INET:
            self.init(
                withUnsafeBytes(of: storage) { $0.loadUnaligned(as: sockaddr_in.self).sin_addr })
        case AF_INET6:
            self.init(
                withUnsafeBytes(of: storage) { $0.loadUnaligned(as: sockaddr_in6.self).sin6_addr })
        default: return nil
        }
    }

    var isIPv4: Bool { high == 0 && low & 0xFFFF_FFFF_0000_0000 == Self.mapped }

    var text: String {
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        if isIPv4 {
            var four = in_addr(s_addr: UInt32(truncatingIfNeeded: low).bigEndian)
            inet_ntop(AF_INET, &four, &buffer, socklen_t(buffer.count))
        } else {
            var halves = (high.bigEndian, low.bigEndian)
            inet_ntop(AF_INET6, &halves, &buffer, socklen_t(buffer.count))
        }
        let end = buffer.firstIndex(of: 0) ?? buffer.count
        return String(decoding: buffer[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// Where to listen: numeric, since a name may mean several addresses.
struct ListenAddress: Sendable, Hashable {
    let host: InternetAddress
    let port: UInt16

    /// - Parameter text: "127.0.0.1:8080", "[::1]:8080" or "localhost:8080"; port 0 lets the system
    ///   choose.
    init(_ text: String) throws(HTTPServerError) {
        guard let colon = text.lastIndex(of: ":"),
            text[colon...].utf8.dropFirst().allSatisfy(HTTPText.isDigit),
            let port = UInt16(text[text.index(after: colon)...])
        else { throw .invalidAddress(text) }
        var name = String(text[..<colon])
        let isBracketed = name.hasPrefix("[") && name.hasSuffix("]")
        if isBracketed {
            name = String(name.dropFirst().dropLast())
        } else if name == "localhost" {
            name = "127.0.0.1"
        }
        guard name.contains(":") == isBracketed, let host = InternetAddress(name) else {
            throw .invalidAddress(text)
        }
        self.host = host
        self.port = port
    }

    /// A bound and listening descriptor.
    func open(backlog: Int) throws(HTTPServerError) -> Int32 {
        let family = host.isIPv4 ? AF_INET : AF_INET6
        let kind = Int32(
            SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(family, kind, 0)
        guard descriptor >= 0 else { throw failure() }
        var one: Int32 = 1
        var zero: Int32 = 0
        let size = socklen_t(MemoryLayout<Int32>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, size)
        if !host.isIPv4 {
            // "[::]" takes IPv4 as well, whatever the system's default.
            setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &zero, size)
        }
        guard bind(descriptor) == 0, listen(descriptor, Int32(clamping: backlog)) == 0 else {
            let error = failure()
            close(descriptor)
            throw error
        }
        return descriptor
    }

    private func bind(_ descriptor: Int32) -> Int32 {
        if host.isIPv4 {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(truncatingIfNeeded: host.low).bigEndian
            return Self.bind(descriptor, &address)
        }
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        withUnsafeMutableBytes(of: &address.sin6_addr) { bytes in
            bytes.storeBytes(of: host.high.bigEndian, as: UInt64.self)
            bytes.storeBytes(of: host.low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        return Self.bind(descriptor, &address)
    }

    private static func bind<Address>(_ descriptor: Int32, _ address: inout Address) -> Int32 {
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
    }

    private func failure() -> HTTPServerError {
        let reason = String(cString: strerror(errno))
        let name = host.isIPv4 ? host.text : "[\(host.text)]"
        return .cannotListen(address: "\(name):\(port)", reason: reason)
    }

    /// The port a listening descriptor got.
    static func boundPort(of descriptor: Int32) -> UInt16 {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let status = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(descriptor, $0, &size)
            }
        }
        guard status == 0 else { return 0 }
        // The port stands at the same place in both families.
        return withUnsafeBytes(of: storage) {
            UInt16(bigEndian: $0.loadUnaligned(as: sockaddr_in.self).sin_port)
        }
    }
}
