package import Crypto
internal import Locks

/// An issuer's public keys, as last fetched.
///
/// Whoever has the network fetches them outside of any request and puts them in here; a request only
/// looks. An answer that holds no usable key never takes the place of keys that work.
package final class PublishedKeys: Sendable {
    /// Where Google publishes the keys that sign push tokens.
    package static let googleAddress = "https://www.googleapis.com/oauth2/v3/certs"

    /// Where to fetch them; nil for keys that are configured and stay.
    package let address: String?
    private let state: Guarded<State>

    private struct State {
        var keys: JSONWebKeySet?
        var isMissingOne = false
    }

    /// Keys to be fetched.
    package init(address: String) {
        self.address = address
        state = Guarded(State())
    }

    /// Keys that are known.
    package init(_ keys: JSONWebKeySet) {
        address = nil
        state = Guarded(State(keys: keys))
    }

    /// The keys; nil until they were fetched for the first time.
    package var current: JSONWebKeySet? { state.withLock { $0.keys } }

    /// Takes an answer over.
    ///
    /// - Returns: false when it is no key set with a usable key; the last good one is kept then.
    package func take(_ answer: [UInt8]) -> Bool {
        guard let keys = JSONWebKeySet(parsing: answer) else { return false }
        state.withLock { state in
            state.keys = keys
            state.isMissingOne = false
        }
        return true
    }

    /// Takes over what another one for the same address holds, as when a configuration is read again.
    package func adopt(_ other: PublishedKeys) {
        guard address != nil, address == other.address, let keys = other.current else { return }
        state.withLock { if $0.keys == nil { $0.keys = keys } }
    }

    /// Notes that a sender named a key that is not here: the issuer may have a new one.
    func noteUnknownKey() { state.withLock { $0.isMissingOne = true } }

    /// Whether a key was missing since the last look at this, or none was ever fetched.
    package func takeWish() -> Bool {
        guard address != nil else { return false }
        return state.withLock { state in
            defer { state.isMissingOne = false }
            return state.isMissingOne || state.keys == nil
        }
    }
}
