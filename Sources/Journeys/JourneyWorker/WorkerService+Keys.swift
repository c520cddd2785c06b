internal import HTTPClient
internal import WebhookIngest

extension WorkerService {
    /// Fetches issuers' keys for as long as the service runs.
    func refreshKeys() async {
        let transport = HTTPTransport(
            loop: loop, maximumConcurrentCalls: 4, userAgent: "nuxie-journey-worker")
        let webhooks = webhooks
        let refresher = KeyRefresher(
            loop: loop, log: log, clock: clock, keys: { webhooks.publishedKeys },
            fetch: { await Self.fetch($0, over: transport) })
        await refresher.run()
        await transport.shutdown()
    }

    /// One GET of at most 256 KiB within ten seconds; a redirect is not followed.
    private static func fetch(
        _ address: String, over transport: HTTPTransport
    ) async -> KeyRefresher.Answer {
        // The configuration admits plain HTTP on this machine only, for tests.
        let isLocal = address.hasPrefix("http://127.0.0.1:")
        let call = HTTPCall(
            method: "GET", url: address, maximumResponse: 262_144,
            destination: DestinationPolicy(allowsPrivate: isLocal))
        do throws(HTTPClientError) {
            let answer = try await transport.send(call)
            guard answer.status == 200, !answer.isTruncated else {
                return .nothing("it was answered \(answer.status), or with too much")
            }
            return .keys(answer.body)
        } catch {
            return .nothing("\(error)")
        }
    }
}
