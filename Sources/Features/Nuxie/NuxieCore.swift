internal import FeatureModel
internal import JSON

/// Everything between the façade and the servers, for one setup.
final class NuxieCore: Sendable {
    let configuration: NuxieConfiguration
    let surroundings: Surroundings
    let server: ServerConnection
    let journal: any OperationJournal
    let deliveries: Deliveries
    let log: SDKLog
    let book: Locked<AccessBook>
    let identity: Locked<Identity>
    let purchases: Locked<PurchaseMemory>
    private let etag = Locked<(customer: String, etag: String)?>(nil)
    private let calls = Locked<(last: Int, running: [Int: @Sendable () -> Void])>((0, [:]))
    private let publish: @Sendable (FeatureSnapshot) -> Void
    private let refreshes: AsyncStream<Void>
    private let refreshKick: AsyncStream<Void>.Continuation
    private let isWatched: @Sendable () async -> Bool

    /// - Parameters:
    ///   - publish: takes every snapshot, from any thread.
    ///   - isWatched: whether somebody observes, so that access is kept fresh unasked.
    init(
        _ configuration: NuxieConfiguration, surroundings: Surroundings, folder: String,
        generation: Int, revision: Int, isWatched: @escaping @Sendable () async -> Bool,
        publish: @escaping @Sendable (FeatureSnapshot) -> Void
    ) throws(NuxieError) {
        self.configuration = configuration
        self.surroundings = surroundings
        self.publish = publish
        self.isWatched = isWatched
        log = SDKLog(
            level: configuration.logLevel, handler: configuration.logHandler ?? writeToStandardError
        )
        server = ServerConnection(configuration, transport: surroundings.transport)
        journal = try surroundings.journal(folder, log)
        let content = journal.recovered
        var who = content.identity
        if who == nil {
            let fresh = Identity(anonymous: makeID(at: surroundings.wallClock()))
            try journal.append(.identity(fresh))
            who = fresh
        }
        let present = who ?? Identity(anonymous: makeID(at: surroundings.wallClock()))
        identity = Locked(present)
        deliveries = Deliveries(journal: journal, surroundings: surroundings, log: log)
        var made = AccessBook(
            customer: present.customer, generation: generation, revision: revision)
        for item in content.evidence.values { made.hold(item) }
        book = Locked(made)
        purchases = Locked(PurchaseMemory(settled: content.settled))
        (refreshes, refreshKick) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Works until the task is cancelled: sends, refreshes, listens to the store.
    func run() async {
        show()
        await withDiscardingTaskGroup { group in
            group.addTask { await self.deliveries.run { await self.send($0) } }
            group.addTask { await self.keepFresh() }
            group.addTask { await self.listen() }
        }
        deliveries.release(.notConfigured, isForGood: true)
        journal.close()
    }

    /// Tells of what the book says now.
    func show() { publish(book.withLock { $0.snapshot }) }

    // MARK: Questions

    func hasFeature(
        _ feature: String, required: Int, entity: String?, policy: FeatureCheckPolicy
    ) async throws -> FeatureAccess {
        try Arguments.checkKey(feature, "featureId")
        if let entity { try Arguments.checkKey(entity, "entityId") }
        try Arguments.checkAmount(required, "requiredBalance")
        let question = AccessBook.Question(
            place: AccessBook.Place(feature: feature, entity: entity), required: required)
        if policy == .cacheFirst {
            let cached = book.withLock { book in
                book.answer(
                    to: question, uptime: surroundings.uptime(),
                    lifetime: configuration.featureCacheLifetime.wholeMilliseconds,
                    wallClock: surroundings.wallClock())
            }
            if let cached { return cached }
        }
        return try await inIdentity { [self] ticket in
            let outcome = try await server.entitled(
                customer: ticket.customer, feature: feature, required: required, entity: entity)
            guard let json = try outcome.value(), let check = Wire.check(json, of: feature) else {
                throw ServerConnection.malformed
            }
            book.withLock { book in
                book.admit(check, to: question, ticket, uptime: surroundings.uptime())
            }
            show()
            return check.access
        }
    }

    /// Runs a request for the customer who is here; once another one is, it is cancelled and whatever came
    /// of it is no answer.
    private func inIdentity<Value: Sendable>(
        _ work: @escaping @Sendable (AccessBook.Ticket) async throws -> Value
    ) async throws -> Value {
        let ticket = book.withLock { $0.ticket() }
        let task = Task { try await work(ticket) }
        let id = calls.withLock { calls in
            calls.last += 1
            calls.running[calls.last] = { task.cancel() }
            return calls.last
        }
        defer { calls.withLock { $0.running[id] = nil } }
        // Changed between the ticket and the list: nobody else will cancel it.
        if !book.withLock({ $0.isCurrent(ticket) }) { task.cancel() }
        let result = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            task.cancel()
        }
        guard book.withLock({ $0.isCurrent(ticket) }) else { throw NuxieError.identityChanged }
        return try result.get()
    }

    // MARK: Identity

    /// Another customer is here; the same one changes nothing.
    func change(_ next: (Identity) -> Identity) {
        let (before, after) = identity.withLock { identity in
            let before = identity
            identity = next(before)
            return (before, identity)
        }
        guard before != after else { return }
        do throws(NuxieError) {
            try journal.append(.identity(after))
        } catch {
            log.log(.error, "The customer is not remembered past this launch: \(error)")
        }
        guard before.customer != after.customer else { return }
        book.withLock { $0.change(to: after.customer) }
        show()
        let running = calls.withLock { Array($0.running.values) }
        for cancel in running { cancel() }
        deliveries.release(.identityChanged)
        if let name = after.identified {
            var properties = JSONObject([("distinct_id", .string(name))])
            if before.identified == nil {
                properties["$anon_distinct_id"] = .string(before.anonymous)
            }
            tell("$identify", properties, of: name)
        }
        refresh()
    }

    /// Writes an event down for the worker.
    ///
    /// - Returns: whether it was written.
    @discardableResult
    func tell(_ name: String, _ properties: JSONObject, of customer: String) -> Bool {
        tell(
            EventItem(
                name: name, customer: customer, id: makeID(at: surroundings.wallClock()),
                occurredAt: surroundings.wallClock(), properties: properties))
    }

    @discardableResult
    func tell(_ item: EventItem) -> Bool {
        do throws(NuxieError) {
            _ = try deliveries.add(.event(item))
            return true
        } catch {
            log.log(.error, "The event \(item.name) was not kept: \(error)")
            return false
        }
    }

    // MARK: Freshness

    /// Asks for the profile soon; wishes that come together are one.
    func refresh() { refreshKick.yield() }

    private func keepFresh() async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                while !Task.isCancelled {
                    let lifetime = self.configuration.featureCacheLifetime.wholeMilliseconds
                    do {
                        try await self.surroundings.sleep(max(1_000, lifetime))
                    } catch {
                        return
                    }
                    if await self.isWatched() { self.refresh() }
                }
            }
            var failures = 0
            refresh()
            for await _ in refreshes {
                if Task.isCancelled { break }
                do {
                    try await fetchProfile()
                    failures = 0
                } catch is CancellationError {
                    continue
                } catch {
                    failures += 1
                    let wish = (error as? NuxieError)?.retryAfter
                    let pause = RetryPolicy.pause(
                        after: failures, wish: wish, random: surroundings.random())
                    log.log(.warning, "The profile is asked for again later: \(error)")
                    group.addTask {
                        try? await self.surroundings.sleep(pause)
                        self.refresh()
                    }
                }
            }
            group.cancelAll()
        }
    }

    /// Asks for the profile now.
    func fetchProfile() async throws {
        let ticket = book.withLock { $0.ticket() }
        let known = etag.withLock { $0?.customer == ticket.customer ? $0?.etag : nil }
        let isAdmitted = book.withLock { $0.isAdmitted }
        let outcome = try await server.profile(
            customer: ticket.customer, etag: isAdmitted ? known : nil)
        let uptime = surroundings.uptime()
        switch outcome {
        case .answered(let json, let tag):
            guard let profile = Wire.profile(json) else { throw ServerConnection.malformed }
            let isTaken = book.withLock { $0.admit(profile, ticket, uptime: uptime) }
            if isTaken {
                etag.withLock { $0 = tag.map { (ticket.customer, $0) } }
                rememberGrants()
            }
        case .unchanged: _ = book.withLock { $0.admit(nil, ticket, uptime: uptime) }
        case .refused(let error), .postponed(let error): throw error
        }
        show()
    }
}

extension Duration {
    /// Held within 64 bits of milliseconds.
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflowed) = seconds.multipliedReportingOverflow(by: 1_000)
        return overflowed ? .max : scaled + attoseconds / 1_000_000_000_000_000
    }
}

/// What calls may be given.
enum Arguments {
    /// The largest amount.
    static let largestAmount = 9_007_199_254_740_991

    static func checkAmount(_ amount: Int, _ name: String) throws(NuxieError) {
        guard amount >= 1, amount <= largestAmount else {
            throw .invalid(
                "\(name) is \(amount); use a whole number from 1 to \(largestAmount).")
        }
    }

    static func checkKey(_ text: String, _ name: String) throws(NuxieError) {
        guard Key<KeyKind.Feature>(text) != nil else {
            throw .invalid(
                "\(name) has 1 to 256 characters and no blanks at its ends; give it another value.")
        }
    }
}
