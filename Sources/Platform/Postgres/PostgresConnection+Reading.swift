internal import CPostgres
internal import Reactor

extension PostgresConnection {
    func socketIsReady() {
        guard let wire else { return }
        let isAlive = PQconsumeInput(wire) == 1
        readResults(wire)
        guard self.wire != nil else { return }
        deliverNotifications()
        guard isAlive, PQstatus(wire) == CONNECTION_OK else {
            lose(.ofConnection(wire, .connectionLost))
            return
        }
        if isWatchingWrites { flush() }
    }

    private func readResults(_ wire: OpaquePointer) {
        var emptyInARow = 0
        while let exchange = pending.first, PQisBusy(wire) == 0 {
            guard let result = PQgetResult(wire) else {
                // The end of one command's results; a second one means that nothing more is here.
                if exchange.isScript {
                    endOfScript(exchange, wire)
                    return
                }
                if exchange.hasResult { exchange.position += 1 }
                exchange.hasResult = false
                emptyInARow += 1
                if emptyInARow > 2 { return }
                continue
            }
            emptyInARow = 0
            exchange.hasResult = true
            take(result, for: exchange)
        }
    }

    private func take(_ result: OpaquePointer, for exchange: Exchange) {
        switch PQresultStatus(result) {
        case PGRES_PIPELINE_SYNC:
            PQclear(result)
            finish(exchange)
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
            guard !exchange.isScript, exchange.position < exchange.steps.count,
                case .execute(let statement) = exchange.steps[exchange.position]
            else {
                PQclear(result)
                return
            }
            exchange.results.append(PostgresResult(result, statement: statement))
        case PGRES_PIPELINE_ABORTED:
            forgetPlan(of: exchange)
            PQclear(result)
        case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
            PQclear(result)
            lose(PostgresError(kind: .connectionLost, message: "COPY is not spoken here"))
        default:
            // PGRES_FATAL_ERROR and what a later libpq may add.
            forgetPlan(of: exchange)
            if exchange.error == nil {
                exchange.error = PostgresError(result: result, statement: exchange.statement)
            }
            PQclear(result)
        }
    }

    /// A plan whose making failed or was skipped does not exist.
    private func forgetPlan(of exchange: Exchange) {
        guard exchange.position < exchange.steps.count,
            case .prepare(let wireName, let name) = exchange.steps[exchange.position]
        else { return }
        prepared.forget(wireName: wireName, of: name)
    }

    private func endOfScript(_ exchange: Exchange, _ wire: OpaquePointer) {
        guard PQstatus(wire) == CONNECTION_OK else { return }
        finish(exchange)
        if PQenterPipelineMode(wire) != 1 { lose(.ofConnection(wire, .connectionLost)) }
    }

    private func finish(_ exchange: Exchange) {
        pending.removeFirst()
        exchange.timer?.cancel()
        let outcome = exchange.outcome(statementTimeout: settings.statementTimeout)
        exchange.end(outcome)
        if let next = pending.first, next.wish != .none { cancelFirst() }
    }

    /// Closes the connection and tells everyone who waits on it.
    func lose(_ reason: PostgresError) {
        guard let wire else { return }
        end = reason
        loop.unwatch(descriptor)
        self.wire = nil
        PQfinish(wire)
        let failed = pending
        pending = []
        for exchange in failed {
            exchange.timer?.cancel()
            exchange.end(.failure(exchange.failure(reason)))
        }
        let waiters = endWaiters
        endWaiters = [:]
        for waiter in waiters.values { waiter.resume() }
    }
}
