package import Crypto
internal import JSON
internal import TimeZones

/// Whose App Store notifications a connector takes.
package struct AppleApp: Sendable {
    /// One, or several for apps that share an endpoint.
    package var bundleIDs: [String]
    /// The app's number in the App Store; when set, production notifications must name it. Apple leaves
    /// it out in the sandbox.
    package var appleID: Int64?
    /// Apple's words, `Production` and `Sandbox` among them.
    package var environments: [String]
    /// The roots that certificates must lead to.
    package var signatures: AppleSignatures

    package init(
        bundleIDs: [String], appleID: Int64? = nil,
        environments: [String] = ["Production", "Sandbox"],
        signatures: AppleSignatures = .appStore
    ) {
        self.bundleIDs = bundleIDs
        self.appleID = appleID
        self.environments = environments
        self.signatures = signatures
    }
}

/// `apple-jws`: every signed text of a notification is Apple's and for this app.
///
/// A transaction inside a notification is signed on its own: a genuine one of another app, put into a
/// notification, must not pass.
struct AppleCheck: Sendable {
    let app: AppleApp

    /// - Parameter steps: the definition's; those that read signed texts are checked, in their order.
    func check(
        body: [UInt8], now: Instant, steps: [DecodingStep]
    ) throws(AuthenticationRefusal) {
        guard case .object(var value, _) = DeliveredBody(body) else {
            throw refusal(.malformedHeader, "the body")
        }
        var isFirst = true
        for step in steps where step.form == .signedText {
            let found = step.pointer.resolve(in: value)
            if !isFirst, found?.isAbsent != false { continue }
            guard let text = found?.string else {
                throw refusal(.missingHeader, "\(step.pointer)")
            }
            switch app.signatures.verdict(on: text, nowMilliseconds: now.milliseconds) {
            case .refused(let reason): throw refusal(.signedText(reason), "\(step.pointer)")
            case .verified(let payload):
                if isFirst {
                    try requireOwn(notification: payload, step.pointer)
                } else {
                    try requireOwn(inner: payload, step.pointer)
                }
                value = value.replacing(step.pointer, with: payload)
            }
            isFirst = false
        }
        if isFirst { throw refusal(.malformedHeader, "the definition") }
    }

    private func refusal(
        _ cause: AuthenticationRefusal.Cause, _ place: String
    ) -> AuthenticationRefusal {
        AuthenticationRefusal(scheme: .appleJWS, cause: cause, header: place)
    }

    /// The four objects that a notification may tell of; exactly one is there.
    private func requireOwn(
        notification payload: JSONValue, _ place: JSONPointer
    ) throws(AuthenticationRefusal) {
        let subjects = ["data", "summary", "externalPurchaseToken", "appData"]
        guard let subject = subjects.lazy.compactMap({ payload[$0] }).first(where: { !$0.isNull })
        else { throw refusal(.claim("it names no app"), "\(place)") }
        var environment = subject["environment"]?.string
        if environment == nil, let token = subject["externalPurchaseId"]?.string {
            environment = token.hasPrefix("SANDBOX") ? "Sandbox" : "Production"
        }
        try requireOwn(bundle: subject["bundleId"]?.string, environment, place)
        guard environment == "Production", let appleID = app.appleID else { return }
        guard subject["appAppleId"]?.integer == appleID else {
            throw refusal(.claim("its appAppleId is not the configured one"), "\(place)")
        }
    }

    /// A renewal tells no bundle; a transaction must tell ours.
    private func requireOwn(
        inner payload: JSONValue, _ place: JSONPointer
    ) throws(AuthenticationRefusal) {
        let bundle = payload["bundleId"]?.string
        if bundle == nil, payload["transactionId"] != nil {
            throw refusal(.claim("it names no bundle"), "\(place)")
        }
        try requireOwn(
            bundle: bundle ?? app.bundleIDs.first, payload["environment"]?.string, place)
    }

    private func requireOwn(
        bundle: String?, _ environment: String?, _ place: JSONPointer
    ) throws(AuthenticationRefusal) {
        guard let bundle, app.bundleIDs.contains(where: { $0.hasSameBytes(as: bundle) }) else {
            throw refusal(.claim("its bundle is not a configured one"), "\(place)")
        }
        guard let environment, app.environments.contains(environment) else {
            throw refusal(.claim("its environment is not a configured one"), "\(place)")
        }
    }
}
