internal import CLinux
internal import Glibc
internal import Locks
package import Reactor

/// A strict HTTP/1.1 server on one address, living on an event loop.
///
/// The handler runs in a task on the loop for each request; a client that goes away neither cancels it
/// nor loses its work. Every answer carries `X-Request-Id`.
package final class HTTPListener: @unchecked Sendable {
    /// Answers a request. It is never cancelled by the server.
    package typealias Handler = @Sendable (HTTPRequest) async -> HTTPResponse
    /// Answers from the head alone (404, 405, 401), before the body is read; nil goes on. Runs on the
    /// loop, so it must not block.
    package typealias EarlyDecision = @Sendable (HTTPHead) -> HTTPResponse?
    /// Hears of every refusal, with the socket's peer; for logs. Runs on the loop.
    package typealias RefusalHook = @Sendable (HTTPRefusal, String) -> Void

    private enum State {
        /// → `listening`
        case made
        /// → `over`
        case listening
        case over
    }

    private struct TLSState {
        var files: HTTPTLS?
        var context: TLSContext?
    }

    let loop: EventLoop
    let limits: HTTPLimits
    let decideEarly: EarlyDecision?
    private let address: String
    private let trustedProxies: [String]
    private let handler: Handler
    private let onRefusal: RefusalHook?
    private let identify: (@Sendable () -> String)?
    private let idPrefix = String(UInt64.random(in: .min ... .max), radix: 36)
    private let state = Guarded(State.made)
    private let tls: Guarded<TLSState>
    private let statistics = Guarded(HTTPStatistics())

    // Loop thread only, from here on; `start` fills them before it hands over to the loop.
    private(set) var proxies: TrustedProxies
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
    private var descriptor: Int32 = -1
    private var connections: [Int32: HTTPConnection] = [:]
    private var isAcceptingPaused = false
    private(set) var isDraining = false
    private var drainWaits: [CheckedContinuation<Void, Never>] = []
    private var runningHandlers = 0
    private var requestCount = 0
    private var clock = HTTPDate()
    private var sweepTimer: LoopTimer?
    private var pauseTimer: LoopTimer?

    private static let acceptsPerTurn = 64
    private static let pauseWithoutDescriptors = Duration.milliseconds(100)

    /// - Parameters:
    ///   - address: "host:port" with a numeric host, or "localhost:port"; port 0 lets the system choose.
    ///   - trustedProxies: addresses and ranges ("10.0.0.0/8") whose `X-Forwarded-For` and
    ///     `X-Forwarded-Proto` are believed.
    ///   - makeRequestID: request ids; by default a random prefix and a count.
    package init(
        loop: EventLoop, address: String, limits: HTTPLimits = HTTPLimits(), tls: HTTPTLS? = nil,
        trustedProxies: [String] = [], makeRequestID: (@Sendable () -> String)? = nil,
        onRefusal: RefusalHook? = nil, decideEarly: EarlyDecision? = nil,
        handler: @escaping Handler
    ) {
        self.loop = loop
        self.address = address
        self.limits = limits
        self.tls = Guarded(TLSState(files: tls, context: nil))
        self.trustedProxies = trustedProxies
        self.identify = makeRequestID
        self.onRefusal = onRefusal
        self.decideEarly = decideEarly
        self.handler = handler
        proxies = TrustedProxies()
    }

    deinit { scratch.deallocate() }

    // MARK: Life

    /// Binds, listens and begins to accept; from any thread, once.
    ///
    /// - Returns: the port, which is the system's choice when the address says 0.
    package func start() throws(HTTPServerError) -> UInt16 {
        let isFirst = state.withLock { state in
            guard case .made = state else { return false }
            state = .listening
            return true
        }
        guard isFirst else { throw .alreadyStarted }
        let wanted = try ListenAddress(address)
        proxies = try TrustedProxies(trustedProxies)
        try loadTLS()
        let descriptor = try wanted.open(backlog: limits.backlog)
        loop.onLoop { self.begin(descriptor) }
        return ListenAddress.boundPort(of: descriptor)
    }

    /// Reads the certificate and key files again, for new connections; from any thread.
    ///
    /// - Throws: when they cannot be used; the old ones then stay.
    package func reloadTLS() throws(HTTPServerError) {
        guard try loadTLS() else { throw .noTLS }
    }

    /// Stops accepting, closes idle connections, lets requests under way be answered (with
    /// `Connection: close`) and handlers end, then closes what is left.
    ///
    /// - Parameter limit: how long to wait; handlers still at work then run on unheard.
    package func drain(within limit: Duration) async {
        await loop.run { await self.drainOnLoop(within: limit) }
    }

    /// The counters as they are now; from any thread.
    package var stats: HTTPStatistics { statistics.withLock { $0 } }

    private func begin(_ descriptor: Int32) {
        guard !isDraining else {
            close(descriptor)
            return
        }
        self.descriptor = descriptor
        loop.watch(descriptor, for: .read) { _ in self.accept() }
        scheduleSweep()
    }

    @discardableResult
    private func loadTLS() throws(HTTPServerError) -> Bool {
        guard let files = tls.withLock({ $0.files }) else { return false }
        let context = try TLSContext(files)
        tls.withLock { $0.context = context }
        return true
    }

    private func drainOnLoop(within limit: Duration) async {
        isDraining = true
        state.withLock { $0 = .over }
        if descriptor >= 0 {
            loop.unwatch(descriptor)
            close(descriptor)
            descriptor = -1
        }
        pauseTimer?.cancel()
        for connection in connections.values where connection.isIdle { connection.close() }
        if !isQuiet { await quiet(within: limit) }
        // A timer left in the loop would hold this listener, and so the loop itself, for ever.
        sweepTimer?.cancel()
    }

    private func quiet(within limit: Duration) async {
        let end = ContinuousClock.now + limit
        let timer = loop.schedule(after: limit) { self.endDrain() }
        await withCheckedContinuation { continuation in
            // The last connection may have closed meanwhile, or the time be up.
            if isQuiet || ContinuousClock.now >= end {
                continuation.resume()
            } else {
                drainWaits.append(continuation)
            }
        }
        timer.cancel()
        for connection in connections.values { connection.close() }
    }

    private var isQuiet: Bool { connections.isEmpty && runningHandlers == 0 }

    private func endDrain() {
        let waits = drainWaits
        drainWaits = []
        for wait in waits { wait.resume() }
    }

    /// The sweep runs as a job of the loop, not inside the timer: it closes, logs and schedules, and the
    /// loop's timers are not open to that while one of them fires.
    private func scheduleSweep() {
        sweepTimer = loop.schedule(after: limits.sweepInterval) {
            Task(executorPreference: self.loop.tasks) { self.sweep() }
        }
    }

    private func sweep() {
        let now = ContinuousClock.now
        for connection in connections.values { connection.checkDeadline(now: now) }
        if !isDraining || !connections.isEmpty { scheduleSweep() }
    }

    // MARK: Accepting

    private func accept() {
        // Somebody waits: only then is another's idle connection worth closing.
        guard !isAcceptingPaused, makeRoom() else { return }
        for _ in 0..<Self.acceptsPerTurn where connections.count < limits.maximumConnections {
            var storage = sockaddr_storage()
            var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let accepted = withUnsafeMutablePointer(to: &storage) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    accept4(
                        descriptor, $0, &size,
                        Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue))
                }
            }
            if accepted >= 0 {
                admit(accepted, storage)
                continue
            }
            switch errno {
            case EINTR, ECONNABORTED, EPROTO: continue
            case EAGAIN: return
            default:
                // The backlog stays readable: without a pause the loop would spin.
                refused(.noDescriptors, peer: nil)
                pauseAccepting()
                pauseTimer = loop.schedule(after: Self.pauseWithoutDescriptors) {
                    self.resumeAccepting()
                }
                return
            }
        }
    }

    private func admit(_ accepted: Int32, _ storage: sockaddr_storage) {
        var one: Int32 = 1
        setsockopt(
            accepted, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        guard let peer = InternetAddress(storage),
            let transport = HTTPTransport(
                descriptor: accepted, tls: tls.withLock { $0.context })
        else {
            close(accepted)
            return
        }
        let connection = HTTPConnection(listener: self, transport: transport, peer: peer)
        connections[accepted] = connection
        statistics.withLock { statistics in
            statistics.openConnections += 1
            statistics.acceptedConnections += 1
        }
        connection.start()
    }

    /// False at the bound when no connection is idle; accepting is paused then.
    private func makeRoom() -> Bool {
        guard connections.count >= limits.maximumConnections else { return true }
        refused(.tooManyConnections, peer: nil)
        var longest: (since: ContinuousClock.Instant, connection: HTTPConnection)?
        for connection in connections.values {
            guard connection.isIdle, let since = connection.idleSince else { continue }
            if let found = longest, found.since <= since { continue }
            longest = (since, connection)
        }
        if let longest {
            longest.connection.close()
            return true
        }
        pauseAccepting()
        return false
    }

    private func pauseAccepting() {
        guard !isAcceptingPaused, descriptor >= 0 else { return }
        isAcceptingPaused = true
        loop.modify(descriptor, for: [])
    }

    private func resumeAccepting() {
        guard isAcceptingPaused, descriptor >= 0 else { return }
        isAcceptingPaused = false
        loop.modify(descriptor, for: .read)
    }

    // MARK: For connections

    /// Runs the handler; `finish` is called on the loop.
    func handle(_ request: HTTPRequest, finish: @escaping @Sendable (HTTPResponse) -> Void) {
        runningHandlers += 1
        statistics.withLock { $0.runningHandlers += 1 }
        Task(executorPreference: loop.tasks) {
            let response = await self.handler(request)
            self.loop.onLoop {
                self.runningHandlers -= 1
                self.statistics.withLock { $0.runningHandlers -= 1 }
                finish(response)
                if self.isDraining, self.isQuiet { self.endDrain() }
            }
        }
    }

    func closed(_ connection: HTTPConnection) {
        guard connections.removeValue(forKey: connection.descriptor) != nil else { return }
        statistics.withLock { $0.openConnections -= 1 }
        if isDraining, isQuiet { endDrain() }
        resumeAccepting()
    }

    func answered(_ status: Int) { statistics.withLock { $0.answers[status, default: 0] += 1 } }

    func refused(_ refusal: HTTPRefusal, peer: InternetAddress?) {
        statistics.withLock { $0.refusals[refusal, default: 0] += 1 }
        onRefusal?(refusal, peer?.text ?? "")
    }

    func makeRequestID() -> String {
        if let identify { return identify() }
        requestCount += 1
        return "\(idPrefix)-\(String(requestCount, radix: 36))"
    }

    func date() -> String { clock.text() }
}
