internal import CLinux
internal import Glibc
internal import Reactor

/// One client's connection. Loop thread only, which is what makes it safe to hand to a handler's task.
///
/// Requests are handled one after the other: the parser is asked for the next one when the answer
/// to the last is with the kernel. Meanwhile bytes are read ahead up to a bound.
final class HTTPConnection: @unchecked Sendable {
    enum Phase {
        /// Waits for a request or reads one → `handling`, `answering`, `closed`
        case reading
        /// The application works → `answering`, `closed`
        case handling
        /// The answer is on its way → `reading`, `lingering`, `closed`
        case answering
        /// Said its last; reads on so that the client sees the answer and not a reset → `closed`
        case lingering
        /// final
        case closed
    }

    /// Which time-out a deadline stands for.
    private enum Wait {
        case idle
        case head
        case body
        case handler
        case write
        case linger
    }

    private static let lingerTime = Duration.seconds(2)
    private static let maximumLinger = 4_194_304

    private let listener: HTTPListener
    private let transport: HTTPTransport
    private let peer: InternetAddress
    private var parser: HTTPRequestParser
    private(set) var phase = Phase.reading
    /// The request being read or answered.
    private var head: HTTPHead?
    private var requestID: String?
    /// Answered from its head alone; the (empty) body event that follows is dropped.
    private var isAnsweredEarly = false
    private var closesAfterAnswer = false
    private var hasEnded = false
    private var answerCount = 0
    private var output: [UInt8] = []
    private var outputStart = 0
    private var lingered = 0
    private var interest: EventLoop.Readiness = .read
    private var isAdvancing = false
    private var deadline: (instant: ContinuousClock.Instant, wait: Wait)?
    /// When the last wait for a next request began; nil before the first answer.
    private(set) var idleSince: ContinuousClock.Instant?

    init(listener: HTTPListener, transport: HTTPTransport, peer: InternetAddress) {
        self.listener = listener
        self.transport = transport
        self.peer = peer
        parser = HTTPRequestParser(limits: listener.limits)
    }

    var descriptor: Int32 { transport.descriptor }

    func start() {
        wait(.head, listener.limits.headTimeout)
        listener.loop.watch(descriptor, for: .read) { self.receive($0) }
    }

    // MARK: Events

    private func receive(_ readiness: EventLoop.Readiness) {
        if readiness.contains(.write) || transport.wantsToWrite {
            flush()
            advance()
        }
        if readiness.contains(.read) || transport.wantsToWrite { read() }
        if phase != .closed, !readiness.isDisjoint(with: .closed), isGone { close() }
        if phase != .closed { updateInterest() }
    }

    /// Asks the system again: the report may have been meant for an earlier owner of the descriptor.
    private var isGone: Bool {
        var entry = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&entry, 1, 0) > 0
    }

    private var mayRead: Bool {
        switch phase {
        case .reading, .lingering: !hasEnded
        case .handling, .answering:
            !hasEnded && parser.bufferedCount < listener.limits.maximumReadAhead
        case .closed: false
        }
    }

    private func read() {
        while mayRead {
            switch transport.read(into: listener.scratch) {
            case .moved(let count):
                if phase == .lingering {
                    lingered += count
                    if lingered > Self.maximumLinger { return close() }
                } else {
                    parser.feed(UnsafeRawBufferPointer(rebasing: listener.scratch[..<count]))
                    advance()
                }
                // A plain socket reports again; what OpenSSL holds already is reported by nobody.
                if !transport.isTLS { return }
            case .wouldBlock: return
            case .ended:
                hasEnded = true
                if phase == .lingering { return close() }
                advance()
            case .failed:
                if transport.isTLSFailure { listener.refused(.tlsFailure, peer: peer) }
                return close()
            }
        }
    }

    /// Takes requests from the parser as far as they go.
    private func advance() {
        guard !isAdvancing else { return }
        isAdvancing = true
        defer { isAdvancing = false }
        while phase == .reading, let event = parser.next() {
            switch event {
            case .head(let head): begin(head)
            case .body(let body): dispatch(body)
            case .refused(let refusal): refuse(refusal)
            }
        }
        guard phase == .reading else { return }
        // Nobody will complete what is half read.
        if hasEnded || (listener.isDraining && parser.isIdle) { return close() }
        updateReadingDeadline()
    }

    private func updateReadingDeadline() {
        let limits = listener.limits
        if parser.isInBody {
            if deadline?.wait != .body { wait(.body, limits.bodyTimeout) }
        } else if !parser.isIdle || answerCount == 0 {
            if deadline?.wait != .head { wait(.head, limits.headTimeout) }
        } else if deadline?.wait != .idle {
            wait(.idle, limits.idleTimeout)
            idleSince = ContinuousClock.now
        }
    }

    // MARK: Requests

    private func begin(_ head: HTTPHead) {
        self.head = head
        requestID = listener.makeRequestID()
        if let response = listener.decideEarly?(head) {
            isAnsweredEarly = true
            // The body that follows is not wanted: reading it only to keep a connection is no gain.
            answer(response, closes: head.hasBody)
        } else if head.expectsContinue, parser.bufferedCount == 0 {
            output.append(contentsOf: "HTTP/1.1 100 Continue\r\n\r\n".utf8)
            flush()
        }
    }

    private func dispatch(_ body: [UInt8]) {
        if isAnsweredEarly {
            isAnsweredEarly = false
            return
        }
        guard let head else { return }
        let origin = listener.proxies.origin(
            peer: peer, isSecure: transport.isTLS, headers: head.headers)
        let request = HTTPRequest(
            head: head, body: body, peerAddress: origin.address.text,
            requestID: requestID ?? listener.makeRequestID(), isSecure: origin.isSecure)
        phase = .handling
        deadline = nil
        if let limit = listener.limits.handlerTimeout { wait(.handler, limit) }
        listener.handle(request) { self.finish($0) }
    }

    /// The application's answer; too late when the client or the handler's time is gone.
    private func finish(_ response: HTTPResponse) {
        guard phase == .handling else { return }
        answer(response)
        advance()
        // Bytes held back by the bound may be waiting inside OpenSSL.
        if transport.isTLS { read() }
        if phase != .closed { updateInterest() }
    }

    private func refuse(_ refusal: HTTPRefusal) {
        listener.refused(refusal, peer: peer)
        guard let status = refusal.status else { return close() }
        answer(.refusal(refusal, status: status), closes: true)
    }

    // MARK: Answers

    private func answer(_ response: HTTPResponse, closes: Bool = false) {
        let keeps = head?.keepsAlive ?? false
        closesAfterAnswer =
            closes || !keeps || response.closesConnection || listener.isDraining
        response.write(
            to: &output, forHEAD: head?.method == "HEAD", closes: closesAfterAnswer,
            date: listener.date(), requestID: requestID ?? listener.makeRequestID())
        listener.answered(response.status)
        head = nil
        requestID = nil
        phase = .answering
        deadline = nil
        flush()
    }

    private func flush() {
        while outputStart < output.count {
            let outcome = output.withUnsafeBytes { bytes in
                transport.write(UnsafeRawBufferPointer(rebasing: bytes[outputStart...]))
            }
            switch outcome {
            case .moved(let count): outputStart += count
            case .wouldBlock:
                if deadline?.wait != .write { wait(.write, listener.limits.writeTimeout) }
                updateInterest()
                return
            case .ended, .failed:
                if transport.isTLSFailure { listener.refused(.tlsFailure, peer: peer) }
                return close()
            }
        }
        output.removeAll(keepingCapacity: output.capacity <= 16_384)
        outputStart = 0
        if deadline?.wait == .write { deadline = nil }
        if phase == .answering { settle() }
    }

    private func settle() {
        answerCount += 1
        if closesAfterAnswer {
            linger()
        } else {
            phase = .reading
        }
    }

    private func linger() {
        transport.finishWriting()
        if hasEnded { return close() }
        phase = .lingering
        wait(.linger, Self.lingerTime)
    }

    // MARK: Time

    private func wait(_ wait: Wait, _ duration: Duration) {
        deadline = (ContinuousClock.now + duration, wait)
    }

    /// Called by the listener's sweep.
    func checkDeadline(now: ContinuousClock.Instant) {
        guard let deadline, deadline.instant <= now else { return }
        switch deadline.wait {
        case .idle, .linger: close()
        case .head where parser.isIdle: close()
        case .head: refuse(.headTimeout)
        case .body: refuse(.bodyTimeout)
        case .handler: refuse(.handlerTimeout)
        case .write:
            listener.refused(.writeTimeout, peer: peer)
            close()
        }
        if phase != .closed { updateInterest() }
    }

    /// Whether it waits for a next request, of which nothing has come.
    var isIdle: Bool { phase == .reading && parser.isIdle && output.isEmpty }

    // MARK: End

    private func updateInterest() {
        guard phase != .closed else { return }
        var wanted: EventLoop.Readiness = mayRead ? .read : []
        if outputStart < output.count || transport.wantsToWrite { wanted.insert(.write) }
        guard wanted != interest else { return }
        interest = wanted
        listener.loop.modify(descriptor, for: wanted)
    }

    func close() {
        guard phase != .closed else { return }
        phase = .closed
        deadline = nil
        output = []
        outputStart = 0
        listener.loop.unwatch(descriptor)
        Glibc.close(descriptor)
        listener.closed(self)
    }
}
