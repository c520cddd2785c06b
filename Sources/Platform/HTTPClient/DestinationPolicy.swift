/// Where a call may go. Decided twice: the host's name before anything happens, and every resolved address
/// before a socket is opened to it, so that a name which changes its address gains nothing.
package struct DestinationPolicy: Sendable, Hashable {
    /// Whether addresses other than public unicast ones may be reached: loopback, private networks,
    /// link-local (cloud metadata), carrier-grade NAT, multicast, reserved and documentation networks, and
    /// the IPv6 forms that wrap one of these.
    package let allowsPrivate: Bool

    /// The hosts that may be called, lowercase and without port or brackets; nil for any.
    package let allowedHosts: Set<String>?

    /// - Parameters:
    ///   - allowsPrivate: false keeps a customer-written URL out of the operator's network.
    ///   - allowedHosts: names or literal addresses without port, in any case; an empty set allows none.
    package init(allowsPrivate: Bool = false, allowedHosts: Set<String>? = nil) {
        self.allowsPrivate = allowsPrivate
        self.allowedHosts = allowedHosts.map { Set($0.map(Self.normalized)) }
    }

    func allows(host: String) -> Bool {
        guard let allowedHosts else { return true }
        return allowedHosts.contains(Self.normalized(host))
    }

    /// Lowercase, without the brackets of an IPv6 address and the root's full stop.
    private static func normalized(_ host: String) -> String {
        var name = Substring(host.lowercased())
        if name.hasPrefix("["), name.hasSuffix("]") { name = name.dropFirst().dropLast() }
        if name.hasSuffix(".") { name = name.dropLast() }
        return String(name)
    }
}
