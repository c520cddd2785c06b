internal import Reactor

extension PostgresPool {
    /// Runs `body` in a transaction: committed when it returns, rolled back when it throws or its task is
    /// cancelled; the connection is fit for use afterwards in any case.
    ///
    /// - Parameter retries: how often the whole body may run again after a serialization failure or a
    ///   deadlock (SQLSTATE 40001, 40P01), with a growing, jittered pause. It must then have no effects
    ///   outside the transaction. A plan that the server holds outdated is replaced once, on top of these.
    package nonisolated func withTransaction<Value>(
        _ isolation: PostgresIsolation = .readCommitted, retries: Int = 0,
        _ body: (PostgresTransaction) async throws -> Value
    ) async throws -> Value {
        var tries = 0
        var plansReplaced = 0
        while true {
            do {
                return try await runOnce(isolation, body)
            } catch let error as PostgresError where error.isRetryable && tries < retries {
                tries += 1
                let most = 10 << min(tries, 6)
                try await loop.sleep(for: .milliseconds(Int.random(in: most / 2...most)))
            } catch let error as PostgresError
                where error.isStalePlan && plansReplaced == 0 && !error.outcomeUnknown
            {
                plansReplaced += 1
            }
        }
    }

    private nonisolated func runOnce<Value>(
        _ isolation: PostgresIsolation, _ body: (PostgresTransaction) async throws -> Value
    ) async throws -> Value {
        let connection = try await acquire()
        let transaction = PostgresTransaction(
            connection: connection, isolation: isolation, loop: loop)
        do {
            let value = try await body(transaction)
            try await transaction.commitIfOpen()
            await release(connection)
            return value
        } catch {
            await transaction.rollBack()
            await release(connection)
            throw error
        }
    }
}
