internal import CLinux
internal import Glibc
internal import Reactor
internal import TimeZones

/// Sends requests on kept-alive connections, each waiting for its answer before it sends again.
///
/// It lives on a loop, and so on a thread, of its own.
actor LoadGenerator {
    /// The bytes of a request, by the run, its number within it, and when the run began.
    typealias RequestMaker = @Sendable (_ run: String, _ number: Int, _ sentAt: Instant) -> [UInt8]

    private let loop: EventLoop
    private let makeRequest: RequestMaker
    private var connections: [LoadConnection] = []
    private var wave: Wave?

    /// One timed run.
    private struct Wave {
        let run: String
        let sentAt: Instant
        let began: ContinuousClock.Instant
        let end: ContinuousClock.Instant
        let isOver: CheckedContinuation<Result<Sample, BenchFailure>, Never>
        var sent = 0
        var latencies: [UInt32] = []
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(loop: EventLoop, makeRequest: @escaping RequestMaker) {
        self.loop = loop
        self.makeRequest = makeRequest
    }

    /// Webhooks of these templates by turns.
    init(loop: EventLoop, templates: [WebhookTemplate]) {
        self.init(loop: loop) { run, number, sentAt in
            templates[number % templates.count].request(run: run, number: number, sentAt: sentAt)
        }
    }

    /// Opens this many connections to the loopback port.
    func open(_ count: Int, port: UInt16) throws(BenchFailure) {
        for _ in 0..<count {
            let connection = try LoadConnection(port: port)
            connections.append(connection)
            loop.watch(connection.descriptor, for: .read) { [weak self] readiness in
                self?.assumeIsolated { $0.handle(connection, readiness) }
            }
        }
    }

    func close() {
        for connection in connections {
            loop.unwatch(connection.descriptor)
            connection.close()
        }
        connections = []
    }

    /// Sends for this long, and waits for the answers that are then outstanding.
    ///
    /// - Parameter run: eight characters that no other run of this database has.
    /// - Throws: for an answer other than 200, a lost connection, and answers that stay away.
    func send(for duration: Duration, run: String) async throws(BenchFailure) -> Sample {
        let limit = loop.schedule(after: duration + .seconds(60)) { [weak self] in
            self?.assumeIsolated {
                $0.finish(.failure(BenchFailure(description: "answers stayed away for a minute")))
            }
        }
        let result = await withCheckedContinuation { continuation in
            let now = ContinuousClock.now
            wave = Wave(
                run: run, sentAt: systemClock(), began: now, end: now + duration,
                isOver: continuation)
            for connection in connections { sendNext(connection) }
        }
        limit.cancel()
        return try result.get()
    }

    private func finish(_ result: Result<Sample, BenchFailure>) {
        guard let wave else { return }
        self.wave = nil
        wave.isOver.resume(returning: result)
    }

    // MARK: One connection's turn

    private func sendNext(_ connection: LoadConnection) {
        guard let wave else { return }
        let request = makeRequest(wave.run, wave.sent, wave.sentAt)
        self.wave?.sent += 1
        connection.begin(request)
        flush(connection)
    }

    private func flush(_ connection: LoadConnection) {
        switch connection.flush() {
        case .done: loop.modify(connection.descriptor, for: .read)
        case .waiting: loop.modify(connection.descriptor, for: [.read, .write])
        case .lost: finish(.failure(.lostConnection))
        }
    }

    private func handle(_ connection: LoadConnection, _ readiness: EventLoop.Readiness) {
        if readiness.contains(.write), connection.isSending { flush(connection) }
        guard !readiness.isDisjoint(with: [.read, .closed]) else { return }
        switch connection.receive() {
        case .incomplete: break
        case .lost: finish(.failure(.lostConnection))
        case .answer(status: 200): note(connection)
        case .answer(let status):
            finish(
                .failure(
                    BenchFailure(
                        description: "the product answered \(status) where 200 was due: "
                            + "\(connection.lastAnswer)")))
        }
    }

    private func note(_ connection: LoadConnection) {
        let now = ContinuousClock.now
        let microseconds = (now - connection.began) / .microseconds(1)
        wave?.latencies.append(UInt32(clamping: Int64(microseconds)))
        guard let wave else { return }
        if now < wave.end {
            sendNext(connection)
        } else if wave.latencies.count == wave.sent {
            finish(
                .success(
                    Sample(
                        operations: wave.sent, seconds: (now - wave.began) / .seconds(1),
                        latencies: wave.latencies)))
        }
    }
}

extension BenchFailure {
    fileprivate static let lostConnection = BenchFailure(
        description: "the product closed a connection in the middle of a run")
}
