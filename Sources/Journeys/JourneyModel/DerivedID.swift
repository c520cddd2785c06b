internal import Crypto

/// 32 lowercase hex digits of SHA-256 over the parts, each preceded by its length, so that no two lists
/// of parts run together.
package func derivedID(_ parts: String...) -> String {
    var bytes: [UInt8] = []
    for part in parts {
        bytes += "\(part.utf8.count):".utf8
        bytes += part.utf8
    }
    return String(SHA256.hex(bytes).prefix(32))
}
