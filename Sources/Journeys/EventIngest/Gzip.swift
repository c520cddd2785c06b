internal import CZlib

/// Opens gzip bodies, as the SDK sends them, within a bound.
enum Gzip {
    enum Failure: Error, Hashable {
        /// Opened, it would be larger than the bound: a small body may hold very much.
        case tooLarge
        /// It is no whole gzip stream.
        case malformed
    }

    /// - Parameter limit: bytes of the opened body, at most.
    static func open(_ bytes: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
        var stream = z_stream()
        // 16 more than the largest window: gzip's own framing and nothing else.
        let began = inflateInit2_(
            &stream, 15 + 16, zlibVersion(), Int32(MemoryLayout<z_stream>.size))
        guard began == Z_OK else { throw .malformed }
        defer { inflateEnd(&stream) }
        var input = bytes
        var opened: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        var result = Z_OK
        let outcome: Failure? = input.withUnsafeMutableBufferPointer { source in
            stream.next_in = source.baseAddress
            stream.avail_in = UInt32(clamping: source.count)
            repeat {
                let (count, status) = piece.withUnsafeMutableBufferPointer { target in
                    stream.next_out = target.baseAddress
                    stream.avail_out = UInt32(target.count)
                    let status = inflate(&stream, Z_NO_FLUSH)
                    return (target.count - Int(stream.avail_out), status)
                }
                result = status
                guard status == Z_OK || status == Z_STREAM_END else { return .malformed }
                guard opened.count + count <= limit else { return .tooLarge }
                opened += piece[..<count]
                if status == Z_OK, count == 0, stream.avail_in == 0 { return .malformed }
            } while result != Z_STREAM_END
            return nil
        }
        if let outcome { throw outcome }
        guard stream.avail_in == 0 else { throw .malformed }
        return opened
    }
}
