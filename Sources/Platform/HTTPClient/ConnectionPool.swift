internal import CCurl
internal import CLinux
internal import Glibc
internal import Reactor

/// One libcurl multi handle on the loop: its sockets, its timer, its running transfers and its idle
/// connections.
///
/// Unchecked: every method runs on the loop's thread.
final class ConnectionPool: @unchecked Sendable {
    private let loop: EventLoop
    private let userAgent: String
    private let authorityFile: String?
    private let multi: UnsafeMutableRawPointer
    private var running: [UnsafeMutableRawPointer: Transfer] = [:]
    /// Reset handles, kept since making one costs more than the rest of a call's bookkeeping.
    private var spare: [UnsafeMutableRawPointer] = []
    private var timer: LoopTimer?
    private var isClosed = false

    private static let maximumSpare = 64
    private static let maximumIdleConnections = 64

    init(loop: EventLoop, userAgent: String, authorityFile: String?) {
        self.loop = loop
        self.userAgent = userAgent
        self.authorityFile = authorityFile
        guard let multi = curl_multi_init() else { preconditionFailure("no memory for libcurl") }
        self.multi = multi
        ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, Self.maximumIdleConnections)
        ccurl_multi_set_callbacks(
            multi, socketChanged, timerChanged, Unmanaged.passUnretained(self).toOpaque())
    }

    var runningCount: Int { running.count }

    func start(_ transfer: Transfer) {
        guard let handle = spare.popLast() ?? curl_easy_init() else {
            transfer.end(.tooManyCalls, detail: "no memory for another call")
            return
        }
        transfer.configure(handle, userAgent: userAgent, authorityFile: authorityFile)
        guard curl_multi_add_handle(multi, handle) == CURLM_OK else {
            curl_easy_cleanup(handle)
            transfer.end(.tooManyCalls, detail: "no memory for another call")
            return
        }
        running[handle] = transfer
    }

    /// Aborts the transfer if it is still running.
    func cancel(_ transfer: Transfer) {
        guard let handle = running.first(where: { $0.value === transfer })?.key else { return }
        remove(handle)
        transfer.end(.cancelled)
    }

    /// Ends every transfer as cancelled and closes every connection; nothing is called after it.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        for (handle, transfer) in running {
            remove(handle)
            transfer.end(.cancelled, detail: "the transport was shut down")
        }
        for handle in spare { curl_easy_cleanup(handle) }
        spare.removeAll()
        curl_multi_cleanup(multi)
        timer?.cancel()
        timer = nil
    }

    private func remove(_ handle: UnsafeMutableRawPointer) {
        running[handle] = nil
        curl_multi_remove_handle(multi, handle)
        // At once: the handle holds pointers into its transfer.
        curl_easy_reset(handle)
        if spare.count < Self.maximumSpare, !isClosed {
            spare.append(handle)
        } else {
            curl_easy_cleanup(handle)
        }
    }

    private func drive(_ descriptor: Int32, _ events: Int32) {
        guard !isClosed else { return }
        var count: Int32 = 0
        curl_multi_socket_action(multi, descriptor, events, &count)
        var code = CURLE_OK
        while let handle = ccurl_multi_next_finished(multi, &code) {
            let transfer = running[handle]
            let status = ccurl_response_code(handle)
            remove(handle)
            transfer?.finish(code, status: status)
        }
    }

    // MARK: What libcurl asks for

    fileprivate func watch(_ descriptor: Int32, _ interest: Int32) {
        if interest == CURL_POLL_REMOVE {
            loop.unwatch(descriptor)
            return
        }
        var readiness: EventLoop.Readiness = []
        if interest & CURL_POLL_IN != 0 { readiness.insert(.read) }
        if interest & CURL_POLL_OUT != 0 { readiness.insert(.write) }
        loop.watch(descriptor, for: readiness) { [self] ready in
            var events: Int32 = 0
            // A closed connection is learnt by reading or writing it, whichever was waited for.
            if !ready.isDisjoint(with: [.read, .closed]) { events |= CURL_CSELECT_IN }
            if ready.contains(.write) { events |= CURL_CSELECT_OUT }
            if ready.contains(.closed) { events |= CURL_CSELECT_ERR }
            drive(descriptor, events)
        }
    }

    fileprivate func arm(_ milliseconds: Int) {
        timer?.cancel()
        timer = nil
        guard milliseconds >= 0 else { return }
        timer = loop.schedule(after: .milliseconds(milliseconds)) { [self] in
            timer = nil
            // As a job, outside the loop's walk through its timers: libcurl arms the next one in here.
            Task(executorPreference: loop.tasks) { self.drive(CURL_SOCKET_TIMEOUT, 0) }
        }
    }
}

// The callbacks as C functions; the context is the pool, which outlives its multi handle.

private func socketChanged(
    _ handle: UnsafeMutableRawPointer?, _ descriptor: curl_socket_t, _ interest: Int32,
    _ context: UnsafeMutableRawPointer?, _ socketContext: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return 0 }
    Unmanaged<ConnectionPool>.fromOpaque(context).takeUnretainedValue().watch(descriptor, interest)
    return 0
}

private func timerChanged(
    _ multi: UnsafeMutableRawPointer?, _ milliseconds: Int, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return 0 }
    Unmanaged<ConnectionPool>.fromOpaque(context).takeUnretainedValue().arm(milliseconds)
    return 0
}
