// swift-format-ignore-file
// The lines are the page's own.

#if canImport(SwiftUI)
// nuxie-doc-snippet: observable-feature-view
import SwiftUI
import Nuxie

struct PremiumView: View {
    @ObservedObject private var features = NuxieSDK.shared.features

    var body: some View {
        if features.state == .unknown {
            ProgressView()
        } else if features.isAllowed("premium-content") {
            PremiumContent()
        } else {
            UpgradePrompt()
        }
    }
}
// end of fragment

struct PremiumContent: View { var body: some View { Text("premium") } }

struct UpgradePrompt: View { var body: some View { Text("upgrade") } }
#endif
