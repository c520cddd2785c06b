/// Who may say in `X-Forwarded-*` for whom a request is; from anyone else the fields are ignored.
struct TrustedProxies: Sendable, Hashable {
    private struct Range: Sendable, Hashable {
        let high: UInt64
        let low: UInt64
        let highMask: UInt64
        let lowMask: UInt64

        init?(_ text: String) {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count <= 2, let address = InternetAddress(String(parts[0])) else {
                return nil
            }
            let width = address.isIPv4 ? 32 : 128
            var length = width
            if parts.count == 2 {
                guard let number = Int(parts[1]), (0...width).contains(number) else { return nil }
                length = number
            }
            let bits = 128 - width + length
            highMask = bits >= 64 ? .max : bits == 0 ? 0 : .max << UInt64(64 - bits)
            lowMask = bits <= 64 ? 0 : .max << UInt64(128 - bits)
            high = address.high & highMask
            low = address.low & lowMask
        }

        func contains(_ address: InternetAddress) -> Bool {
            address.high & highMask == high && address.low & lowMask == low
        }
    }

    private let ranges: [Range]

    /// Believes nobody.
    init() { ranges = [] }

    init(_ texts: [String]) throws(HTTPServerError) {
        var ranges: [Range] = []
        for text in texts {
            guard let range = Range(text) else { throw .invalidTrustedProxy(text) }
            ranges.append(range)
        }
        self.ranges = ranges
    }

    private func contains(_ address: InternetAddress) -> Bool {
        ranges.contains { $0.contains(address) }
    }

    /// The client's address and whether it spoke TLS.
    ///
    /// The list is read from its end, where the nearest proxy wrote: the first address that is no
    /// trusted proxy is the client's. What stands before it is the client's own claim.
    func origin(
        peer: InternetAddress, isSecure: Bool, headers: HTTPFields
    ) -> (address: InternetAddress, isSecure: Bool) {
        guard !ranges.isEmpty, contains(peer) else { return (peer, isSecure) }
        var client = peer
        let hops = headers.values(of: "X-Forwarded-For").flatMap(HTTPText.list)
        for hop in hops.reversed() {
            guard contains(client), let address = Self.address(hop) else { break }
            client = address
        }
        let scheme = headers.values(of: "X-Forwarded-Proto").flatMap(HTTPText.list).last
        guard let scheme else { return (client, isSecure) }
        return (client, HTTPText.equalsIgnoringCase(scheme.utf8, "https".utf8))
    }

    /// Proxies write "192.0.2.1", "192.0.2.1:4711", "2001:db8::1" or "[2001:db8::1]:4711".
    private static func address(_ hop: String) -> InternetAddress? {
        if let address = InternetAddress(hop) { return address }
        if hop.hasPrefix("["), let end = hop.firstIndex(of: "]") {
            return InternetAddress(String(hop[hop.index(after: hop.startIndex)..<end]))
        }
        guard let colon = hop.lastIndex(of: ":") else { return nil }
        return InternetAddress(String(hop[..<colon]))
    }
}
