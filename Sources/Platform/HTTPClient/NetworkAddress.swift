internal import Glibc

/// An IP address a connection is about to use, and whether it is a public one.
///
/// The ranges are those of the IANA special-purpose address registries (RFC 6890 and its updates).
enum NetworkAddress: Hashable, Sendable {
    case v4(UInt32)
    /// Eight groups of 16 bits.
    case v6([UInt16])

    /// Nil for anything but IPv4 and IPv6, such as a Unix socket.
    init?(_ address: UnsafeRawPointer) {
        switch Int32(address.loadUnaligned(as: sockaddr.self).sa_family) {
        case AF_INET:
            let inet = address.loadUnaligned(as: sockaddr_in.self)
            self = .v4(UInt32(bigEndian: inet.sin_addr.s_addr))
        case AF_INET6:
            var inet = address.loadUnaligned(as: sockaddr_in6.self)
            let groups = withUnsafeBytes(of: &inet.sin6_addr) { bytes in
                (0..<8).map { UInt16(bytes[2 * $0]) << 8 | UInt16(bytes[2 * $0 + 1]) }
            }
            self = .v6(groups)
        case _: return nil
        }
    }

    /// What the address is instead of a public unicast one, as in "a loopback address"; nil for those.
    var privacy: String? {
        switch self {
        case .v4(let bits): Self.privacy(ofV4: bits)
        case .v6(let groups): Self.privacy(ofV6: groups)
        }
    }

    private struct Range {
        let network: UInt32
        let prefix: UInt32
        let name: String

        init(_ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: UInt32, _ prefix: UInt32, _ name: String) {
            network = a << 24 | b << 16 | c << 8 | d
            self.prefix = prefix
            self.name = name
        }

        func contains(_ bits: UInt32) -> Bool { (bits ^ network) >> (32 - prefix) == 0 }
    }

    private static let ranges = [
        Range(0, 0, 0, 0, 8, "an unspecified address"),
        Range(10, 0, 0, 0, 8, "a private address"),
        Range(100, 64, 0, 0, 10, "a carrier-grade NAT address"),
        Range(127, 0, 0, 0, 8, "a loopback address"),
        // Public by number, but a cloud's metadata service for the machines inside it.
        Range(168, 63, 129, 16, 32, "a cloud metadata address"),
        Range(169, 254, 0, 0, 16, "a link-local address"),
        Range(172, 16, 0, 0, 12, "a private address"),
        Range(192, 0, 0, 0, 24, "a reserved address"),
        Range(192, 0, 2, 0, 24, "a documentation address"),
        Range(192, 88, 99, 0, 24, "a reserved address"),
        Range(192, 168, 0, 0, 16, "a private address"),
        Range(198, 18, 0, 0, 15, "a benchmarking address"),
        Range(198, 51, 100, 0, 24, "a documentation address"),
        Range(203, 0, 113, 0, 24, "a documentation address"),
        Range(224, 0, 0, 0, 4, "a multicast address"),
        Range(240, 0, 0, 0, 4, "a reserved address"),
    ]

    private static func privacy(ofV4 bits: UInt32) -> String? {
        ranges.first { $0.contains(bits) }?.name
    }

    private static func privacy(ofV6 groups: [UInt16]) -> String? {
        let low = UInt32(groups[6]) << 16 | UInt32(groups[7])
        if groups[0..<6].allSatisfy({ $0 == 0 }) {
            switch low {
            case 0: return "an unspecified address"
            case 1: return "a loopback address"
            case _: return wrapped(low, "an IPv4-compatible")
            }
        }
        if groups[0..<5].allSatisfy({ $0 == 0 }), groups[5] == 0xffff {
            return wrapped(low, "an IPv4-mapped")
        }
        if groups[0] == 0x64, groups[1] == 0xff9b, groups[2..<6].allSatisfy({ $0 == 0 }) {
            return wrapped(low, "a NAT64")
        }
        if groups[0] == 0x2002 {
            return wrapped(UInt32(groups[1]) << 16 | UInt32(groups[2]), "a 6to4")
        }
        if groups[0] & 0xfe00 == 0xfc00 { return "a private address" }
        if groups[0] & 0xffc0 == 0xfe80 { return "a link-local address" }
        if groups[0] & 0xff00 == 0xff00 { return "a multicast address" }
        if groups[0] == 0x2001, groups[1] == 0xdb8 { return "a documentation address" }
        if groups[0] == 0x3fff, groups[1] < 0x1000 { return "a documentation address" }
        // 2001::/23 holds Teredo and other protocol assignments.
        if groups[0] == 0x2001, groups[1] < 0x200 { return "a reserved address" }
        return groups[0] & 0xe000 == 0x2000 ? nil : "a reserved address"
    }

    private static func wrapped(_ bits: UInt32, _ form: String) -> String? {
        privacy(ofV4: bits).map { "\(form) form of \($0)" }
    }
}

extension NetworkAddress: CustomStringConvertible {
    /// Numbers in full, without the shortening of zero groups.
    var description: String {
        switch self {
        case .v4(let bits):
            [24, 16, 8, 0].map { String(bits >> UInt32($0) & 255) }.joined(separator: ".")
        case .v6(let groups):
            groups.map { String($0, radix: 16) }.joined(separator: ":")
        }
    }
}
