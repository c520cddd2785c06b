internal import COpenSSL
internal import JSON
internal import Locks

/// Judges what Apple signs: App Store Server Notifications and signed transactions, whose certificates
/// travel in the header's `x5c`.
///
/// The rules are written out here; neither the system's trust store nor the network has a say. The leaf
/// and the intermediate must bear the extensions by which Apple marks them, the intermediate must come
/// from one of the given roots, and all three must have been valid when the text was signed. A chain that
/// was once found good is remembered, so that a notification costs one signature and not three.
package final class AppleSignatures: Sendable {
    /// What is trusted in production: Apple Root CA - G3.
    package static let appStore = AppleSignatures(roots: [appleRootG3])

    /// The extension of a certificate that signs for the App Store.
    private static let leafMarker = "1.2.840.113635.100.6.11.1"
    /// The extension of Apple's Worldwide Developer Relations authority.
    private static let intermediateMarker = "1.2.840.113635.100.6.2.1"
    /// How far clocks may differ at the ends of a certificate's time, in seconds.
    private static let skew: Int64 = 60
    /// Apple uses two or three chains at a time.
    private static let mostChains = 64

    private let roots: [[UInt8]]
    private let known = Guarded(KnownChains())

    /// - Parameter roots: certificates in DER; one that is none, and an empty list, let nothing pass.
    package init(roots: [[UInt8]]) {
        self.roots = roots
    }

    /// Whether the text is Apple's, and what it says. Bundle, environment and product are the caller's
    /// to judge, and so is every signed text inside the payload.
    ///
    /// - Parameter nowMilliseconds: since 1970. It stands for the time of signing where the payload tells
    ///   none (`signedDate`, or a receipt's `receiptCreationDate`).
    package func verdict(on text: String, nowMilliseconds: Int64) -> JWSVerdict {
        do throws(JWSRefusal) {
            let jws = try CompactJWS(parsing: text)
            guard jws.algorithm == SignatureKey.Algorithm.es256.rawValue else { throw .algorithm }
            let chain = try Self.chain(of: jws)
            let payload = try jws.payloadObject()
            let signedAt = payload["signedDate"] ?? payload["receiptCreationDate"]
            let key: SignatureKey
            do throws(ChainRefusal) {
                key = try self.key(
                    ofChain: chain, atMilliseconds: signedAt?.integer ?? nowMilliseconds)
            } catch {
                throw .chain(error)
            }
            guard jws.isSigned(by: key) else { throw .signature }
            return .verified(payload)
        } catch {
            return .refused(error)
        }
    }

    /// The key of a chain's leaf, if the chain holds at that time.
    ///
    /// - Parameters:
    ///   - chain: leaf, intermediate, and the root the sender names, in DER. That root is only counted:
    ///     the intermediate must come from a root given to `init`.
    ///   - atMilliseconds: since 1970.
    /// - Throws: which rule is broken.
    package func key(
        ofChain chain: [[UInt8]], atMilliseconds: Int64
    ) throws(ChainRefusal) -> SignatureKey {
        guard chain.count == 3 else { throw .length }
        let name = KnownChains.name(chain)
        let sound: SoundChain
        if let remembered = known.withLock({ $0.chains[name] }) {
            sound = remembered
        } else {
            sound = try examine(leaf: chain[0], intermediate: chain[1])
            known.withLock { $0.remember(sound, name, most: Self.mostChains) }
        }
        let seconds = atMilliseconds / 1_000
        guard seconds >= sound.validity.lowerBound - Self.skew,
            seconds <= sound.validity.upperBound + Self.skew
        else { throw .outsideValidity }
        return sound.key
    }

    private static func chain(of jws: CompactJWS) throws(JWSRefusal) -> [[UInt8]] {
        guard let texts = jws.header["x5c"]?.array, texts.count == 3 else {
            throw .chain(.length)
        }
        let chain = texts.compactMap { $0.string.flatMap { Base64.decode($0) } }
        guard chain.count == texts.count else { throw .chain(.malformed) }
        return chain
    }

    /// Everything about a chain that does not depend on the time.
    private func examine(leaf: [UInt8], intermediate: [UInt8]) throws(ChainRefusal) -> SoundChain {
        // The thread's error queue is shared with TLS, which takes a leftover for its own failure.
        defer { ERR_clear_error() }
        guard let leaf = Certificate(der: leaf), let intermediate = Certificate(der: intermediate)
        else { throw .malformed }
        let issuer = roots.lazy.compactMap { Certificate(der: $0) }
            .first { intermediate.isIssued(by: $0) }
        guard let issuer else { throw .untrusted }
        guard intermediate.isAuthority else { throw .noAuthority }
        guard leaf.isIssued(by: intermediate) else { throw .brokenLink }
        guard leaf.hasExtension(Self.leafMarker) else { throw .unmarkedLeaf }
        guard intermediate.hasExtension(Self.intermediateMarker) else {
            throw .unmarkedIntermediate
        }
        guard let first = leaf.validity, let second = intermediate.validity,
            let third = issuer.validity
        else { throw .outsideValidity }
        let start = max(first.lowerBound, second.lowerBound, third.lowerBound)
        let end = min(first.upperBound, second.upperBound, third.upperBound)
        guard start <= end else { throw .outsideValidity }
        guard let key = leaf.key, key.algorithm == .es256 else { throw .unusableKey }
        return SoundChain(key: key, validity: start...end)
    }
}

/// Which rule a chain of certificates breaks.
package enum ChainRefusal: String, Error, Sendable, Hashable, CustomStringConvertible {
    /// Not exactly three certificates.
    case length
    case malformed
    /// No given root issued the intermediate, whatever names it bears.
    case untrusted
    /// The intermediate may not issue certificates.
    case noAuthority
    /// The intermediate did not issue the leaf.
    case brokenLink
    case unmarkedLeaf
    case unmarkedIntermediate
    case outsideValidity
    /// The leaf's key is not on P-256.
    case unusableKey

    package var description: String {
        switch self {
        case .length: "there are not exactly three"
        case .malformed: "one is no X.509 certificate"
        case .untrusted: "the intermediate was issued by no trusted root"
        case .noAuthority: "the intermediate may not issue certificates"
        case .brokenLink: "the intermediate did not issue the leaf"
        case .unmarkedLeaf: "the leaf is not marked as one that signs for the App Store"
        case .unmarkedIntermediate: "the intermediate is not marked as Apple's"
        case .outsideValidity: "one was not valid at the time of signing"
        case .unusableKey: "the leaf's key is not for ES256"
        }
    }
}

/// A chain whose links, marks and key were found good, and when all of it holds.
private struct SoundChain {
    let key: SignatureKey
    /// Seconds since 1970.
    let validity: ClosedRange<Int64>
}

/// The chains that were found good; only such ones, so that nobody can push them out with others.
private struct KnownChains {
    private(set) var chains: [[UInt8]: SoundChain] = [:]
    private var order: [[UInt8]] = []

    /// A digest of leaf and intermediate, each with its length, so that no two pairs share one.
    static func name(_ chain: [[UInt8]]) -> [UInt8] {
        SHA256.digest(Array("\(chain[0].count).\(chain[1].count).".utf8) + chain[0] + chain[1])
    }

    mutating func remember(_ chain: SoundChain, _ name: [UInt8], most: Int) {
        guard chains.updateValue(chain, forKey: name) == nil else { return }
        order.append(name)
        if order.count > most { chains[order.removeFirst()] = nil }
    }
}
