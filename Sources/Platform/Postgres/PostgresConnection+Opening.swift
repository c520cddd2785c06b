internal import CPostgres
internal import Glibc
internal import Reactor

extension PostgresConnection {
    func open() async throws(PostgresError) {
        let deadline = ContinuousClock.now + settings.connectTimeout
        let names = ["dbname", "application_name", "client_encoding"]
        let values = [settings.connectionString, settings.applicationName, "UTF8"]
        // It resolves the host's name, which blocks.
        let started = await BlockingCall.run { () -> Started in
            let wire = withCStrings(names) { names in
                withCStrings(values) { values in PQconnectStartParams(names, values, 1) }
            }
            return Started(wire: wire)
        }
        guard let fresh = started.wire else { throw .ofConnection(nil, .unreachable) }
        do throws(PostgresError) {
            try await handshake(fresh, until: deadline)
        } catch {
            PQfinish(fresh)
            throw error
        }
        wire = fresh
        descriptor = PQsocket(fresh)
        loop.watch(descriptor, for: .read) { [weak self] _ in
            self?.assumeIsolated { $0.socketIsReady() }
        }
        do throws(PostgresError) { try await setUpSession() } catch {
            close()
            throw error
        }
    }

    private func setUpSession() async throws(PostgresError) {
        guard settings.preparation == .automatic, settings.statementTimeout > .zero else { return }
        let (seconds, attoseconds) = settings.statementTimeout.components
        let milliseconds = max(1, seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
        let statement = SQLStatement(
            named: "session_setup", "select set_config('statement_timeout', $1, false)",
            timeout: settings.connectTimeout, isPrepared: false)
        _ = try await query(statement, [.text("\(milliseconds)")])
    }

    private func handshake(
        _ fresh: OpaquePointer, until deadline: ContinuousClock.Instant
    ) async throws(PostgresError) {
        var status = PGRES_POLLING_WRITING
        while status != PGRES_POLLING_OK {
            guard PQstatus(fresh) != CONNECTION_BAD, status != PGRES_POLLING_FAILED else {
                throw .ofConnection(fresh, .unreachable)
            }
            if Task.isCancelled {
                throw PostgresError(kind: .cancelled, message: "while connecting")
            }
            let readiness: EventLoop.Readiness = status == PGRES_POLLING_READING ? .read : .write
            // The socket may be another one after each poll.
            guard await wait(for: readiness, on: PQsocket(fresh), until: deadline) else {
                throw PostgresError(
                    kind: .unreachable, message: "no answer in \(settings.connectTimeout)")
            }
            status = PQconnectPoll(fresh)
        }
        // Notices would be printed.
        PQsetNoticeProcessor(fresh, { _, _ in }, nil)
        guard PQsetnonblocking(fresh, 1) == 0, PQenterPipelineMode(fresh) == 1 else {
            throw .ofConnection(fresh, .unreachable)
        }
    }

    /// False when the time is over first.
    private func wait(
        for readiness: EventLoop.Readiness, on socket: Int32,
        until deadline: ContinuousClock.Instant
    ) async -> Bool {
        await withCheckedContinuation { continuation in
            let timer = loop.schedule(after: deadline - .now) { [loop] in
                loop.unwatch(socket)
                continuation.resume(returning: false)
            }
            loop.watch(socket, for: readiness) { [loop] _ in
                timer.cancel()
                loop.unwatch(socket)
                continuation.resume(returning: true)
            }
        }
    }
}

private struct Started: @unchecked Sendable {
    let wire: OpaquePointer?
}

/// A null-terminated array of C strings.
private func withCStrings<Value>(
    _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Value
) -> Value {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    let pointers = copies.map { UnsafePointer($0) } + [nil]
    return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
}
