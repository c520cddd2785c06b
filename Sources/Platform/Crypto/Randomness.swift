// The room's only source of chance, in a file of its own: pure rooms may use the rest, never this.

internal import COpenSSL

/// Bytes nobody can foretell, from OpenSSL's generator; fit for keys, tokens and ids.
///
/// - Parameter count: at least 0.
package func randomBytes(_ count: Int) -> [UInt8] {
    precondition(count >= 0 && count <= Int(Int32.max), "random bytes asked for: \(count)")
    var bytes = [UInt8](repeating: 0, count: count)
    // Going on with guessable bytes would be worse than ending.
    precondition(RAND_bytes(&bytes, Int32(count)) == 1, "the system gives no random bytes")
    return bytes
}
