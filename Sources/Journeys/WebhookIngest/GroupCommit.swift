package import JourneyStorage
internal import Postgres
package import Reactor

/// Gathers arrivals and stores them a group at a time: each caller waits for the commit of its own.
///
/// While a group is being written the next one gathers, so that a single durable write serves as many
/// requests as came meanwhile; no clock decides. It is bounded in rows and bytes.
package actor GroupCommit {
    /// Why an arrival was not confirmed; nothing of it may be answered with 2xx.
    package enum Refusal: Error, Sendable, Hashable {
        /// More is waiting than is allowed; try again later.
        case full
        /// The database did not confirm, and says so.
        case unconfirmed(String)
    }

    /// Bounds of what is held in memory.
    package struct Limits: Sendable, Hashable {
        /// Arrivals in one statement, at most ``DeliveryStore/batchLimit``.
        package var group = 200
        /// Statements under way at once; two reach the disk's ceiling.
        package var statements = 2
        /// Arrivals in all, those in statements included.
        package var waiting = 10_000
        /// Body bytes in all.
        package var waitingBytes = 67_108_864

        package init() {}
    }

    private struct Waiter {
        let arrival: ArrivedDelivery
        let bytes: Int
        let continuation: CheckedContinuation<Result<DeliveryReceipt, Refusal>, Never>
    }

    /// Stores all of a group durably, or throws; receipts in the group's order.
    package typealias Store = @Sendable ([ArrivedDelivery]) async throws -> [DeliveryReceipt]

    private let loop: EventLoop
    private let limits: Limits
    private let store: Store
    private var waiting: [Waiter] = []
    /// Admitted and not yet answered: about to wait (between the admission and the continuation others of
    /// this actor may run), waiting, or in a statement. All of it is in memory.
    private var admitted = 0
    private var admittedBytes = 0
    private var statementsUnderWay = 0

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        loop.asUnownedSerialExecutor()
    }

    /// - Parameter store: stores all of a group or throws; ``DeliveryStore/store(_:)``.
    package init(loop: EventLoop, limits: Limits = Limits(), store: @escaping Store) {
        self.loop = loop
        self.limits = limits
        self.store = store
    }

    /// Returns once the arrival is durable.
    package func commit(_ arrival: ArrivedDelivery) async throws(Refusal) -> DeliveryReceipt {
        let bytes = arrival.byteCount
        guard admitted < limits.waiting, admittedBytes + bytes <= limits.waitingBytes else {
            throw .full
        }
        admitted += 1
        admittedBytes += bytes
        let result = await withCheckedContinuation { continuation in
            waiting.append(Waiter(arrival: arrival, bytes: bytes, continuation: continuation))
            startStatements()
        }
        return try result.get()
    }

    private func startStatements() {
        while statementsUnderWay < limits.statements, !waiting.isEmpty {
            let group = Array(waiting.prefix(limits.group))
            waiting.removeFirst(group.count)
            statementsUnderWay += 1
            Task(executorPreference: loop.tasks) {
                await self.write(group)
                await self.finishStatement(of: group)
            }
        }
    }

    private func finishStatement(of group: [Waiter]) {
        admitted -= group.count
        admittedBytes -= group.reduce(0) { $0 + $1.bytes }
        statementsUnderWay -= 1
        startStatements()
    }

    /// Writes a group; one that the database refuses for what it holds is halved, so that only the bad
    /// request hears of it (S18).
    private func write(_ group: [Waiter], tries: Int = 0) async {
        do {
            let receipts = try await store(group.map(\.arrival))
            guard receipts.count == group.count else {
                throw ReceiptsMissing(stored: receipts.count, asked: group.count)
            }
            for (waiter, receipt) in zip(group, receipts) {
                waiter.continuation.resume(returning: .success(receipt))
            }
        } catch let error as PostgresError where error.isRetryable && tries < Self.retryLimit {
            await write(group, tries: tries + 1)
        } catch let error as PostgresError where error.isAboutContent && group.count > 1 {
            let half = group.count / 2
            await write(Array(group[..<half]))
            await write(Array(group[half...]))
        } catch {
            for waiter in group {
                waiter.continuation.resume(returning: .failure(.unconfirmed("\(error)")))
            }
        }
    }

    /// How often a group that met a deadlock is written again.
    private static let retryLimit = 3
}

/// A store that answers for fewer arrivals than it was given has confirmed none of them.
private struct ReceiptsMissing: Error, CustomStringConvertible {
    let stored: Int
    let asked: Int

    var description: String {
        "the store answered for \(stored) of \(asked) deliveries; report this fault"
    }
}

extension ArrivedDelivery {
    fileprivate var byteCount: Int {
        switch content {
        case .body(let bytes, _): bytes.count
        case .event: 1_024
        }
    }
}

extension PostgresError {
    /// SQLSTATE classes 22 (data exception), 23 (constraint) and 54 (limit exceeded): the same rows
    /// would fail again, others would not.
    fileprivate var isAboutContent: Bool {
        guard let sqlState else { return false }
        return ["22", "23", "54"].contains(String(sqlState.prefix(2)))
    }
}
