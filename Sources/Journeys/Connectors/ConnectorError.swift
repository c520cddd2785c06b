/// Why a connector cannot be used as configured; stops the start.
package struct ConnectorError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of mistake it is, for callers that branch.
    package enum Reason: Sendable, Hashable {
        case malformedName
        case malformedEnvironment
        /// The `authenticate` list is empty: nothing could be believed.
        case noAuthentication
        /// Two entries read the same header; two live secrets belong into one entry.
        case schemesCollide
        case schemeNotOffered
        case unauthenticatedListener
        case missingSecret
        case tooManySecrets
        case malformedSecret
        case secretTooShort
        case toleranceOutOfRange
    }

    /// The connector's name.
    package let connector: String
    /// The entry that is wrong, when one is.
    package let scheme: AuthenticationScheme?
    package let reason: Reason
    /// What is wrong and what to do, without the secret.
    package let explanation: String

    package var description: String {
        let place = scheme.map { ", scheme \"\($0.rawValue)\"" } ?? ""
        return "connector \"\(connector)\"\(place): \(explanation)"
    }
}
