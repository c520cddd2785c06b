import CLinux
import Glibc
import Testing

@testable import HTTPClient

@Suite struct DestinationTests {
    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1 is a loopback address"),
        ("127.255.0.3", "127.255.0.3 is a loopback address"),
        ("localhost", "a loopback address"),
        ("[::1]", "0:0:0:0:0:0:0:1 is a loopback address"),
        ("[::]", "an unspecified address"),
        ("[::ffff:127.0.0.1]", "an IPv4-mapped form of a loopback address"),
        ("[::ffff:7f00:1]", "an IPv4-mapped form of a loopback address"),
        ("[::127.0.0.1]", "an IPv4-compatible form of a loopback address"),
        ("[64:ff9b::10.0.0.1]", "a NAT64 form of a private address"),
        ("[64:ff9b:1::8.8.8.8]", "a reserved address"),
        ("[2002:7f00:1::]", "a 6to4 form of a loopback address"),
        ("[2001::1]", "a reserved address"),
        ("[2001:db8::1]", "a documentation address"),
        ("0x7f.1", "127.0.0.1 is a loopback address"),
        ("0177.0.0.1", "127.0.0.1 is a loopback address"),
        ("127.1", "127.0.0.1 is a loopback address"),
        ("2130706433", "127.0.0.1 is a loopback address"),
        ("0x7f000001", "127.0.0.1 is a loopback address"),
        ("%31%32%37.0.0.1", "127.0.0.1 is a loopback address"),
        ("0", "0.0.0.0 is an unspecified address"),
        ("0.0.0.0", "an unspecified address"),
        ("10.0.0.1", "a private address"), ("172.16.0.1", "a private address"),
        ("192.168.1.1", "a private address"),
        ("169.254.169.254", "a link-local address"),
        ("168.63.129.16", "a cloud metadata address"),
        ("100.64.0.1", "a carrier-grade NAT address"),
        ("192.0.2.1", "a documentation address"), ("198.18.0.1", "a benchmarking address"),
        ("224.0.0.1", "a multicast address"), ("255.255.255.255", "a reserved address"),
        ("[fd00::1]", "a private address"), ("[fe80::1]", "a link-local address"),
        ("[ff02::1]", "a multicast address"),
    ])
    func `an address that is not public is refused and nothing sent`(
        host: String, reason: String
    ) async throws {
        try await ClientWorld.run { world in
            for scheme in ["http", "https"] {
                let error = try await world.failure(
                    HTTPCall(url: "\(scheme)://\(host):\(world.receiver.port)/"))
                guard case .destinationRefused(let text) = error.kind else {
                    Issue.record("\(scheme)://\(host): \(error)")
                    continue
                }
                #expect(text.hasSuffix(reason))
                #expect(!error.requestMayHaveBeenSent)
            }
            #expect(world.receiver.connectionCount == 0)
        }
    }

    @Test func `a kept connection to a private address serves no call that may not go there`()
        async throws
    {
        try await ClientWorld.run { connection in
            while connection.readRequest() != nil { connection.answer("") }
        } body: { world in
            #expect(try await world.send(world.call()).status == 200)
            var call = world.call()
            call.destination = DestinationPolicy()
            let error = try await world.failure(call)
            #expect(error.kind == .destinationRefused("127.0.0.1 is a loopback address"))
            #expect(try await world.send(world.call()).status == 200)
            #expect(world.receiver.requests.count == 2)
        }
    }

    @Test(arguments: [
        (["127.0.0.1"], true), (["LOCALHOST", "127.0.0.1"], true), (["localhost"], false),
        ([], false), (["27.0.0.1"], false), (["127.0.0.1.example.com"], false),
    ])
    func `a host that is not on the list is refused`(hosts: [String], isAllowed: Bool) async throws
    {
        try await ClientWorld.run { connection in
            connection.readRequest()
            connection.answer("")
        } body: { world in
            var call = world.call()
            call.destination = DestinationPolicy(allowsPrivate: true, allowedHosts: Set(hosts))
            if isAllowed {
                #expect(try await world.send(call).status == 200)
            } else {
                let error = try await world.failure(call)
                #expect(
                    error.kind
                        == .destinationRefused("the host is not on the list of allowed hosts"))
                #expect(!error.requestMayHaveBeenSent)
                #expect(world.receiver.connectionCount == 0)
            }
        }
    }

    @Test func `a list knows a host in every spelling`() {
        let policy = DestinationPolicy(allowedHosts: ["Hooks.Example.COM", "[FD00::1]", "a.test."])
        for host in ["hooks.example.com", "HOOKS.example.com.", "[fd00::1]", "fd00::1", "A.test"] {
            #expect(policy.allows(host: host))
        }
        for host in ["example.com", "evil-hooks.example.com", "hooks.example.com.evil.test", ""] {
            #expect(!policy.allows(host: host))
        }
        #expect(DestinationPolicy().allows(host: "anything"))
    }

    @Test func `a list does not open private addresses`() async throws {
        try await ClientWorld.run { world in
            var call = world.call()
            call.destination = DestinationPolicy(allowedHosts: ["127.0.0.1"])
            let error = try await world.failure(call)
            #expect(error.kind == .destinationRefused("127.0.0.1 is a loopback address"))
        }
    }

    @Test(arguments: [
        "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.0", "168.63.129.15", "168.63.129.17", "169.253.255.255", "169.255.0.0",
        "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.0.3.0", "192.167.255.255", "192.169.0.0",
        "198.17.255.255", "198.20.0.0", "223.255.255.255", "2606:4700:4700::1111", "2001:200::1",
        "2001:db7::", "2001:db9::", "64:ff9b::8.8.8.8", "::ffff:8.8.8.8", "2002:808:808::",
        "3fff:1000::",
    ])
    func `a public address beside the closed ranges is open`(text: String) throws {
        #expect(try #require(address(text)).privacy == nil)
    }

    @Test(arguments: [
        "0.255.255.255", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.255.255.255",
        "169.254.0.0", "169.254.255.255", "172.16.0.0", "172.31.255.255", "192.0.0.255",
        "192.168.255.255", "198.19.255.255", "198.51.100.255", "203.0.113.0", "224.0.0.0",
        "239.255.255.255", "240.0.0.0", "::2", "::ffff:0:8.8.8.8", "100::", "1fff::", "4000::",
        "5f00::1", "fbff::", "fc00::", "fdff::", "fec0::1", "febf::", "3fff:fff::", "2001:1ff::",
        "::ffff:169.254.169.254", "64:ff9b::100.64.0.1", "2002:a9fe:a9fe::",
    ])
    func `the edges of the closed ranges are closed`(text: String) throws {
        #expect(try #require(address(text)).privacy != nil)
    }

    @Test func `a Unix socket is no network address`() {
        var unix = sockaddr_un()
        unix.sun_family = sa_family_t(AF_UNIX)
        withUnsafeBytes(of: &unix) { bytes in
            if let start = bytes.baseAddress { #expect(NetworkAddress(start) == nil) }
        }
    }

    /// By the system's own reading of the text.
    private func address(_ text: String) -> NetworkAddress? {
        var inet = sockaddr_in()
        inet.sin_family = sa_family_t(AF_INET)
        if inet_pton(AF_INET, text, &inet.sin_addr) == 1 {
            return withUnsafeBytes(of: &inet) { $0.baseAddress.flatMap(NetworkAddress.init) }
        }
        var inet6 = sockaddr_in6()
        inet6.sin6_family = sa_family_t(AF_INET6)
        guard inet_pton(AF_INET6, text, &inet6.sin6_addr) == 1 else { return nil }
        return withUnsafeBytes(of: &inet6) { $0.baseAddress.flatMap(NetworkAddress.init) }
    }
}
