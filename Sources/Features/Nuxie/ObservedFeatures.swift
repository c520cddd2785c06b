public import FeatureModel

#if canImport(Combine)
    public import Combine
#endif

/// The customer's access, to be observed: ``NuxieSDK/features``.
///
/// In SwiftUI it is an `ObservableObject`; everywhere ``snapshots`` tells of each update.
@MainActor
public final class ObservedFeatures {
    #if canImport(Combine)
        /// Sends before every update.
        public nonisolated let objectWillChange = ObservableObjectPublisher()
    #endif

    /// Access and state from the same update.
    public private(set) var snapshot = FeatureSnapshot.nothing

    /// What the delegate was told of this customer.
    private var told: [String: FeatureAccess] = [:]
    /// What it was told of earlier customers, and may have to be told is gone.
    private var toldBefore: Set<String> = []
    private var watchers: [Int: AsyncStream<FeatureSnapshot>.Continuation] = [:]
    private var lastWatcher = 0

    nonisolated init() {}

    /// `.unknown` while loading, `.reconciling` while a purchase is being synchronized, or `.ready`.
    public var state: FeatureSnapshot.State { snapshot.state }

    /// Cached access by feature key.
    public var all: [String: FeatureAccess] { snapshot.all }

    /// Whether the feature allows access.
    public func isAllowed(_ featureId: String) -> Bool { snapshot.isAllowed(featureId) }

    /// Whether access is unlimited or has a positive balance.
    public func hasBalance(_ featureId: String) -> Bool { snapshot.hasBalance(featureId) }

    /// The metered balance, when available.
    public func balance(_ featureId: String) -> Int? { snapshot.balance(featureId) }

    /// The full access, when available.
    public func feature(_ featureId: String) -> FeatureAccess? { snapshot.feature(featureId) }

    /// The snapshot that holds now and every later one; who reads slowly misses those in between, never the
    /// newest.
    public var snapshots: AsyncStream<FeatureSnapshot> {
        AsyncStream(bufferingPolicy: .bufferingNewest(16)) { continuation in
            lastWatcher += 1
            let watcher = lastWatcher
            watchers[watcher] = continuation
            continuation.yield(snapshot)
            continuation.onTermination = { [weak self] _ in
                Task { @MainActor in self?.watchers[watcher] = nil }
            }
        }
    }

    var isWatched: Bool { !watchers.isEmpty }

    /// Shows a newer snapshot and tells of it; an older one is left alone.
    func show(_ next: FeatureSnapshot, to delegate: (any NuxieDelegate)?) {
        guard next.revision > snapshot.revision else { return }
        #if canImport(Combine)
            objectWillChange.send()
        #endif
        if next.identityGeneration != snapshot.identityGeneration {
            toldBefore.formUnion(told.keys)
            told = [:]
        }
        snapshot = next
        for watcher in watchers.values { watcher.yield(next) }
        for (feature, new) in changes(in: next) {
            let old = told[feature]
            told[feature] = new
            toldBefore.remove(feature)
            delegate?.featureAccessDidChange(feature, from: old, to: new)
            // A newer snapshot was shown from within, and has told the rest.
            guard snapshot.revision == next.revision else { return }
        }
    }

    /// What is to be told, sorted by feature.
    private func changes(in next: FeatureSnapshot) -> [(feature: String, new: FeatureAccess)] {
        // While nothing is known, what is missing is not lost.
        let gone: Set<String> =
            next.state == .unknown
            ? [] : Set(told.keys).union(toldBefore).subtracting(next.all.keys)
        return gone.union(next.all.keys).sorted().compactMap { feature in
            let new = next.all[feature] ?? .denied
            return told[feature] == new ? nil : (feature, new)
        }
    }
}

#if canImport(Combine)
    extension ObservedFeatures: ObservableObject {}
#endif
