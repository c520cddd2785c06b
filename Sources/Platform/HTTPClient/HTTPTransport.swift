internal import CCurl
internal import Glibc
package import Reactor
internal import Synchronization

/// Makes HTTP/1.1 calls on an event loop, through libcurl.
///
/// Not followed, kept or read: redirects, cookies, proxies of the environment, `.netrc`. HTTP/2 is off,
/// since one broken connection would make every call on it ambiguous. A request is written at most once
/// per call: what a kept connection swallowed is reported, never sent again behind the caller's back.
///
/// Connections are kept in two pools, one for calls that may reach private addresses and one for those that
/// may not: a reused connection is not checked again. Host lists are checked at each call.
///
/// Unchecked: the pools are used on the loop's thread only.
package final class HTTPTransport: @unchecked Sendable {
    private let loop: EventLoop
    private let maximumConcurrentCalls: Int
    private let publicPool: ConnectionPool
    private let privatePool: ConnectionPool
    /// Loop thread only, and at the very end.
    private var isShutDown = false

    /// - Parameters:
    ///   - loop: must run until ``shutdown()`` has returned. Callers should live on it
    ///     (`Task(executorPreference: loop.tasks)`): others pay two hops between threads a call.
    ///   - maximumConcurrentCalls: calls beyond it fail at once; at least 1.
    ///   - userAgent: the `User-Agent` of calls that name none; printable ASCII.
    ///   - authorityFile: certificates in PEM to trust instead of the system's.
    ///
    /// From then on the process ignores `SIGPIPE`: writing to a closed TLS connection would end it.
    package init(
        loop: EventLoop, maximumConcurrentCalls: Int = 256, userAgent: String,
        authorityFile: String? = nil
    ) {
        precondition(maximumConcurrentCalls >= 1, "a transport that may make no call")
        precondition(
            userAgent.utf8.allSatisfy { (0x20...0x7e).contains($0) },
            "a user agent that is not printable ASCII")
        precondition(Self.isLibraryReady, "libcurl could not be initialised")
        self.loop = loop
        self.maximumConcurrentCalls = maximumConcurrentCalls
        publicPool = ConnectionPool(loop: loop, userAgent: userAgent, authorityFile: authorityFile)
        privatePool = ConnectionPool(loop: loop, userAgent: userAgent, authorityFile: authorityFile)
    }

    deinit {
        // After a shutdown the loop may have ended, and would keep the job for ever.
        if isShutDown { return }
        let pools = [publicPool, privatePool]
        loop.onLoop { for pool in pools { pool.close() } }
    }

    private static let isLibraryReady: Bool = {
        signal(SIGPIPE, SIG_IGN)
        return curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    }()

    /// Makes the call and waits for the whole answer, of any status.
    ///
    /// Cancelling the task aborts the transfer.
    package func send(_ call: HTTPCall) async throws(HTTPClientError) -> HTTPAnswer {
        let transfer = Transfer(try CheckedRequest(call))
        let pool = call.destination.allowsPrivate ? privatePool : publicPool
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                loop.onLoop { self.start(transfer, in: pool, for: waiter) }
            }
        } onCancel: {
            transfer.isCancelled.store(true, ordering: .relaxed)
            loop.onLoop { pool.cancel(transfer) }
        }
        return try outcome.get()
    }

    /// Ends running calls as cancelled, closes every connection and refuses further calls.
    package func shutdown() async {
        await loop.run { [self] in
            isShutDown = true
            publicPool.close()
            privatePool.close()
        }
    }

    private func start(
        _ transfer: Transfer, in pool: ConnectionPool,
        for waiter: CheckedContinuation<Transfer.Outcome, Never>
    ) {
        transfer.begin(waiter)
        if transfer.isCancelled.load(ordering: .relaxed) {
            transfer.end(.cancelled)
        } else if isShutDown {
            transfer.end(.cancelled, detail: "the transport is shut down")
        } else if publicPool.runningCount + privatePool.runningCount >= maximumConcurrentCalls {
            transfer.end(.tooManyCalls, detail: "the limit is \(maximumConcurrentCalls)")
        } else {
            pool.start(transfer)
        }
    }
}
