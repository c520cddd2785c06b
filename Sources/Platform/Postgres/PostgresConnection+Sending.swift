internal import CPostgres
internal import FailPoints
internal import Reactor

extension PostgresConnection {
    /// Exchanges that one connection keeps in flight.
    private static let mostPending = 1_024
    /// What a server has to react to a cancel request before the connection is given up.
    private static let cancelGrace = Duration.seconds(3)

    /// Runs a batch; when the server has outdated or lost a prepared statement, once more with a new one,
    /// which is safe as the failed batch was rolled back as a whole.
    func perform(_ batch: PostgresBatch) async throws(PostgresError) -> [PostgresRows] {
        do throws(PostgresError) { return try await send(batch) } catch {
            guard error.isStalePlan, isOpen else { throw error }
            prepared.forgetAll()
            if batch.isInTransaction { throw error }
        }
        return try await send(batch)
    }

    private func send(_ batch: PostgresBatch) async throws(PostgresError) -> [PostgresRows] {
        let wire = try readyWire(ignoresCancellation: batch.ignoresCancellation)
        if pending.first?.isScript == true { throw Self.busy }
        let exchange = makeExchange(
            isScript: false, mayCommit: batch.mayCommit, timeout: batch.timeout)
        guard write(batch, to: wire, as: exchange), PQpipelineSync(wire) == 1 else {
            throw giveUp(wire)
        }
        register(exchange)
        #if DEBUG
            for item in batch.items { failPoint("postgres.sent." + item.statement.name) }
        #endif
        let results = try await answer(
            to: exchange, ignoresCancellation: batch.ignoresCancellation)
        if batch.commits, let last = results.last, last.commandTag != "COMMIT" {
            throw PostgresError(
                kind: .server, message: "an earlier error had aborted the transaction",
                sqlState: "25P02", statement: last.statement)
        }
        return results.map { PostgresRows($0) }
    }

    func runScript(
        _ sql: String, name: String, timeout: Duration
    ) async throws(PostgresError) {
        let wire = try readyWire(ignoresCancellation: false)
        guard pending.isEmpty else { throw Self.busy }
        let exchange = makeExchange(isScript: true, mayCommit: true, timeout: timeout)
        exchange.steps = [.execute(statement: name)]
        guard PQexitPipelineMode(wire) == 1, PQsendQuery(wire, sql) == 1 else {
            throw giveUp(wire)
        }
        register(exchange)
        _ = try await answer(to: exchange, ignoresCancellation: false)
    }

    private static let busy = PostgresError(
        kind: .exhausted, message: "the connection runs a script, or one cannot start yet")

    private func readyWire(ignoresCancellation: Bool) throws(PostgresError) -> OpaquePointer {
        if !ignoresCancellation, Task.isCancelled {
            throw PostgresError(kind: .cancelled, message: "before it was sent")
        }
        guard let wire else {
            throw end ?? PostgresError(kind: .closed, message: "the connection is not open")
        }
        guard pending.count < Self.mostPending else {
            throw PostgresError(
                kind: .exhausted, message: "\(pending.count) statements wait on one connection")
        }
        return wire
    }

    private func makeExchange(isScript: Bool, mayCommit: Bool, timeout: Duration) -> Exchange {
        nextID += 1
        return Exchange(id: nextID, isScript: isScript, mayCommit: mayCommit, timeout: timeout)
    }

    /// libpq could not even take it; the pipeline is in no known state.
    private func giveUp(_ wire: OpaquePointer) -> PostgresError {
        let error = PostgresError.ofConnection(wire, .connectionLost)
        lose(error)
        return error
    }

    // MARK: Writing

    private func write(
        _ batch: PostgresBatch, to wire: OpaquePointer, as exchange: Exchange
    ) -> Bool {
        // Before any plan, since making one takes a snapshot: `begin` could not set its level any more.
        let first = batch.items.prefix { !$0.statement.isPrepared }
        for (statement, values) in first {
            guard execute(statement, PostgresParameters(values), plan: nil, wire, exchange) else {
                return false
            }
        }
        // Then all plans: a statement that fails must not take the plans of later ones with it.
        var planned: [(SQLStatement, PostgresParameters, plan: String?)] = []
        for (statement, values) in batch.items.dropFirst(first.count) {
            let parameters = PostgresParameters(values)
            var plan: String?
            if settings.preparation == .automatic, statement.isPrepared {
                switch prepared.choose(statement, typeIDs: parameters.typeIDs) {
                case .ready(let name): plan = name
                case .unprepared: plan = nil
                case .prepare(let name):
                    plan = name
                    exchange.steps.append(.prepare(wireName: name, statement: statement.name))
                    let count = Int32(parameters.typeIDs.count)
                    guard PQsendPrepare(wire, name, statement.sql, count, parameters.typeIDs) == 1
                    else { return false }
                }
            }
            planned.append((statement, parameters, plan))
        }
        return planned.allSatisfy { statement, parameters, plan in
            execute(statement, parameters, plan: plan, wire, exchange)
        }
    }

    private func execute(
        _ statement: SQLStatement, _ parameters: PostgresParameters, plan: String?,
        _ wire: OpaquePointer, _ exchange: Exchange
    ) -> Bool {
        exchange.steps.append(.execute(statement: statement.name))
        let isSent = parameters.withPointers { count, values, lengths, formats in
            if let plan {
                return PQsendQueryPrepared(wire, plan, count, values, lengths, formats, 1)
            }
            return PQsendQueryParams(
                wire, statement.sql, count, parameters.typeIDs, values, lengths, formats, 1)
        }
        return isSent == 1
    }

    func flush() {
        switch PQflush(wire) {
        case 0 where isWatchingWrites:
            isWatchingWrites = false
            loop.modify(descriptor, for: .read)
        case 1 where !isWatchingWrites:
            isWatchingWrites = true
            loop.modify(descriptor, for: [.read, .write])
        case ..<0:
            lose(.ofConnection(wire, .connectionLost))
        default: break
        }
    }

    // MARK: Waiting

    /// Takes its place in the order of answers: before anything else may be sent, hence before any await.
    private func register(_ exchange: Exchange) {
        let id = exchange.id
        pending.append(exchange)
        exchange.timer = loop.schedule(after: exchange.timeout) { [weak self] in
            self?.assumeIsolated { $0.stop(id, because: .timeout) }
        }
    }

    private func answer(
        to exchange: Exchange, ignoresCancellation: Bool
    ) async throws(PostgresError) -> [PostgresResult] {
        let id = exchange.id
        let outcome: Exchange.Outcome
        if ignoresCancellation {
            outcome = await withCheckedContinuation { continuation in
                exchange.await(continuation)
                flush()
            }
        } else {
            outcome = await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    exchange.await(continuation)
                    flush()
                }
            } onCancel: {
                loop.onLoop { self.assumeIsolated { $0.stop(id, because: .cancellation) } }
            }
        }
        return try outcome.get()
    }

    private func stop(_ id: Int, because wish: Exchange.Wish) {
        guard let index = pending.firstIndex(where: { $0.id == id }),
            pending[index].wish == .none
        else { return }
        pending[index].wish = wish
        pending[index].timer?.cancel()
        // A cancel request names the session only: it waits until the exchange is the one that runs.
        if index == 0 { cancelFirst() }
    }

    /// Asks the server to cancel what runs now.
    func cancelFirst() {
        guard let exchange = pending.first, let handle = PQgetCancel(wire) else { return }
        let request = CancelRequest(handle: handle)
        BlockingCall.start {
            var reason = [CChar](repeating: 0, count: 256)
            _ = PQcancel(request.handle, &reason, 256)
            PQfreeCancel(request.handle)
        }
        let id = exchange.id
        exchange.timer = loop.schedule(after: Self.cancelGrace) { [weak self] in
            self?.assumeIsolated { connection in
                guard connection.pending.first?.id == id else { return }
                connection.lose(
                    PostgresError(
                        kind: .connectionLost, message: "the server did not react to a cancel"))
            }
        }
    }
}

private struct CancelRequest: @unchecked Sendable {
    let handle: OpaquePointer
}
