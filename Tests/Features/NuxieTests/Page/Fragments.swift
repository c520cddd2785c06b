// swift-format-ignore-file
// The lines are the page's own.

import Nuxie

// The page's fragments, each in the harness it names. This file imports the SDK alone.

enum Fragments {
    static func basicFeatureAccess() async throws {
        // nuxie-doc-fragment: basic-feature-access harness=async-body
        let access = try await NuxieSDK.shared.hasFeature("premium-content")
        if access.allowed {
            showPremiumContent()
        } else {
            showUpgradePrompt()
        }
        // end of fragment
    }

    static func meteredFeatureAccess() async throws {
        // nuxie-doc-fragment: metered-feature-access harness=async-body
        let access = try await NuxieSDK.shared.hasFeature(
            "ai-generations",
            requiredBalance: 5,
            entityId: "project-456"
        )

        if access.allowed {
            // This is presentation state only. Consume usage before the side effect.
            showEnabledGenerateButton()
        }
        // end of fragment
    }

    static func featureAccessPolicies() async throws -> (FeatureAccess, FeatureAccess) {
        // nuxie-doc-fragment: feature-access-policies harness=async-body
        let cachedFirst = try await NuxieSDK.shared.hasFeature(
            "premium-content",
            policy: .cacheFirst
        )

        let authoritative = try await NuxieSDK.shared.hasFeature(
            "premium-content",
            policy: .remote
        )
        // end of fragment
        return (cachedFirst, authoritative)
    }

    static func consumeFeatureAndWait() async throws {
        // nuxie-doc-fragment: consume-feature-and-wait harness=async-body
        let result = try await NuxieSDK.shared.useFeatureAndWait(
            "ai-generations",
            amount: 1,
            entityId: "project-456"
        )

        guard result.success else { return }

        let remaining = result.authoritativeAccess?.balance
            ?? result.usage?.remaining
        proceedWithGeneration(remaining: remaining)
        // end of fragment
    }

    static func enqueueFeatureUsage() {
        // nuxie-doc-fragment: enqueue-feature-usage harness=sync-body
        NuxieSDK.shared.useFeature(
            "analytics-event",
            amount: 1,
            metadata: ["source": "settings"]
        )
        // end of fragment
    }
}
