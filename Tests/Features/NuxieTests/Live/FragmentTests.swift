import FeatureModel
import TestSupport
import Testing

@testable import Nuxie

/// The page's fragments as they stand, through the one SDK that apps use, against a live server.
@Suite(.serialized, .timeLimit(.minutes(1))) struct FragmentTests {
    // P3 P6 P17 P26 P27 P40 P66 P68
    @Test func `the fragments do what the page says`() async throws {
        try await LiveWorld.with { world in
            _ = deeds()
            try await world.withSDK(.shared) { sdk in
                try await Fragments.basicFeatureAccess()
                #expect(deeds() == ["upgrade"])
                try await world.give("premium-content", .access)
                // The denial is fresh for a while: only the server is sure to know better.
                let (_, authoritative) = try await Fragments.featureAccessPolicies()
                #expect(authoritative.allowed)
                try await Fragments.basicFeatureAccess()
                #expect(deeds() == ["premium"])

                try await Fragments.meteredFeatureAccess()
                #expect(deeds().isEmpty)
                try await Fragments.consumeFeatureAndWait()
                #expect(deeds().isEmpty)
                try await world.give(
                    "ai-generations", LiveWorld.units(6), entity: "project-456", id: "g2")
                _ = try await sdk.hasFeature(
                    "ai-generations", requiredBalance: 5, entityId: "project-456", policy: .remote)
                try await Fragments.meteredFeatureAccess()
                #expect(deeds() == ["generate enabled"])
                try await Fragments.consumeFeatureAndWait()
                #expect(deeds() == ["generated, 5 left"])

                try await world.give("analytics-event", LiveWorld.units(3), id: "g3")
                Fragments.enqueueFeatureUsage()
                await sdk.until { $0.balance("analytics-event") == 2 }
            }
        }
    }

    // P15 P69
    @Test @MainActor func `the page's observer hears of changes`() async throws {
        let observer = FeatureObserver()
        let live = LiveWorld.with
        try await live { world in
            try await world.withSDK(.shared, customer: "observed") { sdk in
                sdk.delegate = observer
                #expect(sdk.delegate === observer)
                try await world.give("premium-content", .access, to: "observed")
                try sdk.refresh()
                await sdk.until { $0.isAllowed("premium-content") }
                sdk.delegate = nil
            }
        }
    }
}
