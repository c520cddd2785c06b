internal import Configuration
internal import HTTPClient
internal import JSON
internal import JourneyModel
internal import Settings

/// A `slack` action's post to an incoming webhook.
struct SlackAction {
    let account: AccountSettings
    let invocation: InvocationID
    let request: JSONObject
    let timeout: Duration

    /// - Throws: the failure to record when the post cannot be made at all.
    func makeCall() throws(AttemptFailure) -> HTTPCall {
        guard let url = account.url else {
            throw AttemptFailure(
                error: "no_url", detail: .string("the account \(account.name) has no url"))
        }
        var message = JSONObject()
        for key in ["text", "blocks"] { message[key] = request[key] }
        return HTTPCall(
            url: url.revealed,
            headers: [
                HTTPHeaderField(name: "Content-Type", value: "application/json; charset=utf-8"),
                HTTPHeaderField(name: "Idempotency-Key", value: invocation.text),
                HTTPHeaderField(name: "webhook-id", value: invocation.text),
            ], body: JSONValue.object(message).bytes, timeout: timeout,
            connectTimeout: min(timeout, .seconds(10)), maximumResponse: 65_536,
            destination: DestinationPolicy(
                allowsPrivate: account.allowsPrivate, allowedHosts: account.allowedHosts))
    }
}
