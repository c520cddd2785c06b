import FeatureModel
import TestSupport
import Testing

@testable import Nuxie

/// What observers and the delegate see.
@MainActor struct ObservationTests {
    private final class Listener: NuxieDelegate {
        var heard: [String] = []
        var onHearing: (() -> Void)?

        func featureAccessDidChange(
            _ featureId: String, from oldValue: FeatureAccess?, to newValue: FeatureAccess
        ) {
            MainActor.assertIsolated()
            heard.append(
                "\(featureId) \(oldValue.map { "\($0.allowed)" } ?? "-") \(newValue.allowed)")
            onHearing?()
        }
    }

    private let held = FeatureAccess(
        allowed: true, unlimited: false, balance: nil, type: .boolean)

    private func snapshot(
        _ revision: Int, _ all: [String: FeatureAccess], _ state: FeatureSnapshot.State = .ready,
        generation: Int = 0
    ) -> FeatureSnapshot {
        FeatureSnapshot(
            state: state, all: all, identityGeneration: generation, revision: revision)
    }

    // P19 P20 P21 P22
    @Test func `members say what the snapshot says`() {
        let features = ObservedFeatures()
        #expect(features.state == .unknown)
        #expect(!features.isAllowed("x"))
        #expect(features.feature("x") == nil)
        let metered = FeatureAccess(
            allowed: true, unlimited: false, balance: 3, type: .metered)
        let spent = FeatureAccess(allowed: false, unlimited: false, balance: 0, type: .metered)
        let free = FeatureAccess(allowed: true, unlimited: true, balance: nil, type: .metered)
        features.show(
            snapshot(1, ["x": held, "m": metered, "s": spent, "u": free]), to: nil)
        #expect(features.isAllowed("x"))
        #expect(!features.hasBalance("x"))
        #expect(features.hasBalance("m"))
        #expect(features.hasBalance("u"))
        #expect(!features.hasBalance("s"))
        #expect(features.balance("m") == 3)
        #expect(features.balance("u") == nil)
        #expect(features.feature("s") == spent)
        #expect(features.all.count == 4)
        #expect(features.snapshot.revision == 1)
    }

    // P7 P8
    @Test func `access has the page's members`() {
        let wallet = FeatureAccess(
            allowed: true, unlimited: false, balance: 2, type: .creditSystem)
        #expect(wallet.hasAccess == wallet.allowed)
        #expect(wallet.hasBalance)
        #expect(wallet.type == .creditSystem)
        #expect(FeatureType.allCases == [.boolean, .metered, .creditSystem])
        #expect(!held.hasBalance)
        #expect(!FeatureAccess.denied.hasAccess)
    }

    @Test func `an older snapshot is never shown`() {
        let features = ObservedFeatures()
        features.show(snapshot(2, ["x": held]), to: nil)
        features.show(snapshot(1, [:]), to: nil)
        #expect(features.isAllowed("x"))
    }

    @Test func `each change is told once, and what is gone is told as denied`() {
        let features = ObservedFeatures()
        let listener = Listener()
        features.show(snapshot(1, ["x": held, "y": held]), to: listener)
        features.show(snapshot(2, ["x": held, "y": held], .reconciling), to: listener)
        features.show(snapshot(3, ["y": held]), to: listener)
        #expect(listener.heard == ["x - true", "y - true", "x true false"])
    }

    // P24
    @Test func `while nothing is known, nothing is told as lost`() {
        let features = ObservedFeatures()
        let listener = Listener()
        features.show(snapshot(1, ["x": held]), to: listener)
        features.show(snapshot(2, [:], .unknown, generation: 1), to: listener)
        #expect(listener.heard == ["x - true"])
        // The new customer's access is told from nothing, never from the former one's.
        features.show(snapshot(3, ["y": held], generation: 1), to: listener)
        #expect(listener.heard == ["x - true", "x - false", "y - true"])
    }

    @Test func `what is told from within a telling is not told twice`() {
        let features = ObservedFeatures()
        let listener = Listener()
        listener.onHearing = { [unowned listener] in
            listener.onHearing = nil
            features.show(snapshot(2, ["x": held, "y": held, "z": held]), to: listener)
        }
        features.show(snapshot(1, ["x": held, "y": held]), to: listener)
        #expect(listener.heard.sorted() == ["x - true", "y - true", "z - true"])
    }

    @Test func `a stream begins with what holds and ends with its reader`() async {
        let features = ObservedFeatures()
        features.show(snapshot(1, ["x": held]), to: nil)
        do {
            var stream = features.snapshots.makeAsyncIterator()
            #expect(await stream.next()?.revision == 1)
            #expect(features.isWatched)
            features.show(snapshot(2, [:]), to: nil)
            #expect(await stream.next()?.revision == 2)
        }
        #expect(await eventually { !features.isWatched })
    }

    // P70
    @Test func `the delegate is kept weakly`() {
        let sdk = NuxieSDK()
        var listener: Listener? = Listener()
        sdk.delegate = listener
        #expect(sdk.delegate != nil)
        listener = nil
        #expect(sdk.delegate == nil)
    }
}
