import CLinux
import Glibc
import Reactor
import Synchronization

/// A client that sends some bytes, then nothing, and reads until the other side ends.
enum RawExchange {
    /// Returns all that was answered.
    static func run(_ text: String, port: UInt16, on loop: EventLoop) async -> String {
        await run(Array(text.utf8), port: port, on: loop)
    }

    /// Returns all that was answered.
    static func run(_ bytes: [UInt8], port: UInt16, on loop: EventLoop) async -> String {
        await withCheckedContinuation { continuation in
            loop.onLoop { start(bytes, port: port, on: loop, continuation) }
        }
    }

    private static func start(
        _ bytes: [UInt8], port: UInt16, on loop: EventLoop,
        _ continuation: CheckedContinuation<String, Never>
    ) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        // On loopback the kernel connects without waiting for the listener.
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        precondition(status == 0, "cannot connect to port \(port)")
        _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        let received = Received()
        loop.watch(descriptor, for: .read) { _ in
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count > 0 {
                received.bytes += buffer[..<count]
                return
            }
            if count < 0, errno == EAGAIN { return }
            loop.unwatch(descriptor)
            close(descriptor)
            continuation.resume(returning: String(decoding: received.bytes, as: UTF8.self))
        }
    }

    /// Touched on the loop's thread only.
    private final class Received: @unchecked Sendable {
        var bytes: [UInt8] = []
    }
}
