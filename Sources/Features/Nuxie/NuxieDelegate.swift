@_exported public import FeatureModel

/// Hears of changes of access. Assign it to ``NuxieSDK/delegate``, which keeps it weakly.
@MainActor
public protocol NuxieDelegate: AnyObject, Sendable {
    /// A feature's access is another now.
    ///
    /// - Parameters:
    ///   - featureId: the feature's key.
    ///   - oldValue: what was told last of this customer; nil when nothing was.
    ///   - newValue: what holds now; a feature that is gone is told as denied.
    func featureAccessDidChange(
        _ featureId: String, from oldValue: FeatureAccess?, to newValue: FeatureAccess)
}
