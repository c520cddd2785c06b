internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Requests by `URLSession`: the same code on every platform, so that what is tested here is what runs there.
///
/// Redirects are not followed, since the body holds the key; cookies and caches are not used; a body past
/// ``TransportAnswer/largestBody`` ends the request.
final class URLSessionTransport: NSObject, Transport, URLSessionDataDelegate, @unchecked Sendable {
    private struct Exchange {
        let continuation: CheckedContinuation<TransportAnswer, any Error>
        var body: [UInt8] = []
        var isTooLarge = false
    }

    private let exchanges = Locked<[Int: Exchange]>([:])
    private let session = Locked<URLSession?>(nil)

    override init() {
        super.init()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.httpMaximumConnectionsPerHost = 4
        let made = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        session.withLock { $0 = made }
    }

    /// Ends the session once what is under way has ended; it keeps its delegate until then.
    func close() {
        let ended = session.withLock { session in
            let ended = session
            session = nil
            return ended
        }
        ended?.finishTasksAndInvalidate()
    }

    func post(_ request: TransportRequest) async throws -> TransportAnswer {
        guard let url = URL(string: request.url) else {
            throw TransportFailure(description: "the address is no URL")
        }
        guard let session = session.withLock({ $0 }) else {
            throw TransportFailure(description: "the SDK was shut down")
        }
        var made = URLRequest(url: url)
        made.httpMethod = "POST"
        made.httpBody = Data(request.body)
        let (seconds, attoseconds) = request.timeout.components
        made.timeoutInterval = Double(seconds) + Double(attoseconds) / 1e18
        made.setValue("application/json", forHTTPHeaderField: "Content-Type")
        for (name, value) in request.headers { made.setValue(value, forHTTPHeaderField: name) }
        let task = session.dataTask(with: made)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = exchanges.withLock { exchanges in
                    if Task.isCancelled { return true }
                    exchanges[task.taskIdentifier] = Exchange(continuation: continuation)
                    return false
                }
                if isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else {
                    task.resume()
                }
            }
        } onCancel: {
            // Answered here: a task that is cancelled as it begins may never tell its end.
            let found = exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }
            found?.continuation.resume(throwing: CancellationError())
            task.cancel()
        }
    }

    // MARK: URLSessionDataDelegate

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLarge = exchanges.withLock { exchanges in
            guard var exchange = exchanges[dataTask.taskIdentifier] else { return false }
            exchanges[dataTask.taskIdentifier] = nil
            exchange.isTooLarge = exchange.body.count + data.count > TransportAnswer.largestBody
            if !exchange.isTooLarge { exchange.body += data }
            exchanges[dataTask.taskIdentifier] = exchange
            return exchange.isTooLarge
        }
        if isTooLarge { dataTask.cancel() }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        let found = exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        guard let exchange = found else { return }
        if exchange.isTooLarge {
            exchange.continuation.resume(
                throwing: TransportFailure(
                    description: "the answer has more than \(TransportAnswer.largestBody) bytes"))
        } else if let error {
            exchange.continuation.resume(
                throwing: TransportFailure(description: error.localizedDescription))
        } else if let response = task.response as? HTTPURLResponse {
            var headers: [String: String] = [:]
            for (name, value) in response.allHeaderFields {
                headers["\(name)".lowercased()] = "\(value)"
            }
            exchange.continuation.resume(
                returning: TransportAnswer(
                    status: response.statusCode, headers: headers, body: exchange.body))
        } else {
            exchange.continuation.resume(
                throwing: TransportFailure(description: "the answer is not HTTP"))
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) { completionHandler(nil) }
}
