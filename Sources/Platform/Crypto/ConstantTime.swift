// Comparison of secrets: how long it takes must not tell where two values differ.

internal import COpenSSL

/// Whether both hold the same bytes.
///
/// The time depends on the lengths, which are taken to be public, and not on the contents.
package func constantTimeEquals(_ first: [UInt8], _ second: [UInt8]) -> Bool {
    first.count == second.count && CRYPTO_memcmp(first, second, first.count) == 0
}
