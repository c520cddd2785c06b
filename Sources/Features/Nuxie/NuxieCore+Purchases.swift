internal import JSON

/// What is remembered of checkouts within the process.
struct PurchaseMemory: Sendable {
    /// Purchases that the server has, oldest first.
    var settled: [String]
    /// Purchases that were committed since the start.
    var committed: Set<String> = []
    /// Products whose checkout the store has yet to decide.
    var pending: Set<String> = []
    /// Outcomes that could not be written to disk.
    var retained: [Retained] = []
    /// In place of the configuration's, once set.
    var delegate: (any NuxiePurchaseDelegate)??
    var mode: NuxieConfiguration.PurchaseHandlingMode?

    /// An outcome that waits for a disk with room.
    struct Retained: Sendable {
        let item: EventItem
        var rounds = 0
    }

    /// How often in a row a retained outcome is tried.
    static let attemptsARound = 3
    /// Rounds after the first, then it is given up.
    static let mostRounds = 3
    /// Outcomes that are retained.
    static let mostRetained = 50

    init(settled: [String]) { self.settled = settled }
}

// Checkouts: with a delegate only their outcome is taken, and told to the worker; in the store the signed
// transaction is evidence, which the server believes or not.

extension NuxieCore {
    /// Where a transaction came from; it changes nothing but what the event says.
    enum Source: String, Sendable {
        case checkout
        case transactionStream = "transaction_stream"
        case startupRecovery = "startup_recovery"
        case deferredUpdate = "deferred_update"
        case restore
        case externalDelegate = "external_delegate"
    }

    private var delegate: (any NuxiePurchaseDelegate)? {
        purchases.withLock { $0.delegate } ?? configuration.purchaseDelegate
    }

    private var mode: NuxieConfiguration.PurchaseHandlingMode {
        purchases.withLock { $0.mode } ?? configuration.purchaseHandlingMode
    }

    // MARK: Checkouts

    func purchase(_ product: String) async throws(NuxieError) -> PurchaseResult {
        try Arguments.checkKey(product, "storeProductId")
        let customer = book.withLock { $0.customer }
        if let delegate {
            let id = book.withLock { $0.products[product]?.id }
            let result = await delegate.purchase(
                product: StoreProduct(storeProductId: product, productId: id))
            // Of the customer who began it, whoever is here now.
            let (name, more) = Self.event(of: result)
            declare(name, more, product: product, customer: customer)
            return result
        }
        switch await surroundings.store.purchase(product) {
        case .purchased(let transaction):
            commit(transaction, from: .checkout, customer: customer)
            return .purchased
        case .cancelled:
            tell("$purchase_cancelled", properties(product, .checkout), of: customer)
            return .cancelled
        case .pending:
            purchases.withLock { _ = $0.pending.insert(product) }
            tell("$purchase_pending", properties(product, .checkout), of: customer)
            return .pending
        case .failed(let error):
            var json = properties(product, .checkout)
            json["error"] = .string(Self.reason(error))
            tell("$purchase_failed", json, of: customer)
            return .failed(error)
        }
    }

    func restore() async -> RestoreResult {
        let customer = book.withLock { $0.customer }
        if let delegate {
            let result = await delegate.restorePurchases()
            switch result {
            case .restored: declare("$restore_completed", nil, product: nil, customer: customer)
            case .noPurchases:
                declare("$restore_no_purchases", nil, product: nil, customer: customer)
            case .failed(let error):
                declare(
                    "$restore_failed", Self.reason(error), product: nil, customer: customer)
            }
            return result
        }
        do {
            try await surroundings.store.restore()
            let found = await surroundings.store.current().filter { !$0.isRevoked }
            for transaction in found { commit(transaction, from: .restore, customer: customer) }
            let name = found.isEmpty ? "$restore_no_purchases" : "$restore_completed"
            tell(name, JSONObject(), of: customer)
            return found.isEmpty ? .noPurchases : .restored
        } catch {
            tell(
                "$restore_failed", JSONObject([("error", .string(Self.reason(error)))]),
                of: customer)
            return .failed(error)
        }
    }

    private static func event(of result: PurchaseResult) -> (String, String?) {
        switch result {
        case .purchased: ("$purchase_completed", nil)
        case .cancelled: ("$purchase_cancelled", nil)
        case .pending: ("$purchase_pending", nil)
        case .failed(let error): ("$purchase_failed", reason(error))
        }
    }

    private static func reason(_ error: any Error) -> String { String("\(error)".prefix(512)) }

    private func properties(_ product: String?, _ source: Source) -> JSONObject {
        var json = JSONObject([("source", .string(source.rawValue))])
        if let product {
            json["store_product_id"] = .string(product)
            let id = book.withLock { $0.products[product]?.id }
            json["product_id"] = .string(id ?? product)
        }
        return json
    }

    // MARK: A delegate's word

    /// Tells the worker how a delegate's checkout ended; no Feature is touched. Each call is one operation,
    /// whose id stays the same however often it is tried.
    private func declare(_ name: String, _ error: String?, product: String?, customer: String) {
        var json = properties(product, .externalDelegate)
        if let error { json["error"] = .string(error) }
        let now = surroundings.wallClock()
        let item = EventItem(
            name: name, customer: customer, id: makeID(at: now), occurredAt: now,
            properties: json)
        retryRetained()
        if !capture(item) {
            purchases.withLock { memory in
                guard memory.retained.count < PurchaseMemory.mostRetained else { return }
                memory.retained.append(PurchaseMemory.Retained(item: item))
            }
        }
    }

    /// Tries what the disk did not take, a bounded number of rounds.
    func retryRetained() {
        let retained = purchases.withLock { memory in
            let retained = memory.retained
            memory.retained = []
            return retained
        }
        for var entry in retained {
            if capture(entry.item) { continue }
            entry.rounds += 1
            guard entry.rounds < PurchaseMemory.mostRounds else {
                log.log(.error, "A checkout's outcome is given up: the disk does not take it.")
                continue
            }
            purchases.withLock { $0.retained.append(entry) }
        }
    }

    private func capture(_ item: EventItem) -> Bool {
        for _ in 0..<PurchaseMemory.attemptsARound where tell(item) { return true }
        return false
    }

    // MARK: The store's word

    /// Listens to the store; not while a delegate buys.
    func listen() async {
        if delegate != nil { return }
        for transaction in await surroundings.store.current() {
            commit(transaction, from: .startupRecovery, customer: nil)
        }
        for await transaction in surroundings.store.updates() {
            if delegate != nil { continue }
            let isDeferred = purchases.withLock {
                $0.pending.remove(transaction.product) != nil
            }
            commit(
                transaction, from: isDeferred ? .deferredUpdate : .transactionStream, customer: nil)
        }
    }

    /// Takes a verified transaction in, once, from wherever it comes.
    func commit(_ transaction: StoreTransaction, from source: Source, customer: String?) {
        let known = book.withLock { $0.evidence(transaction.id) }
        let isNew = purchases.withLock { memory in
            memory.pending.remove(transaction.product)
            let isSettled = memory.settled.contains(transaction.id) || known != nil
            // Taken back: the server has to hear of it even when it has the purchase.
            if transaction.isRevoked { return known?.isRevoked != true }
            return !isSettled && memory.committed.insert(transaction.id).inserted
        }
        guard isNew else { return }
        let owner = known?.customer ?? customer ?? book.withLock { $0.customer }
        let grants = book.withLock { $0.products[transaction.product]?.grants }
        let evidence = Evidence(
            transaction: transaction.id, original: transaction.original,
            storeProduct: transaction.product, signed: transaction.signed, customer: owner,
            grants: grants ?? [], isRevoked: transaction.isRevoked,
            isFinishedHere: mode == .full)
        do throws(NuxieError) {
            try journal.append(.evidence(evidence))
            book.withLock { $0.hold(evidence) }
            show()
            _ = try deliveries.add(.submit(transaction: transaction.id))
        } catch {
            // The store hands an unfinished transaction out again.
            log.log(.error, "A purchase waits for the next launch: \(error)")
            purchases.withLock { _ = $0.committed.remove(transaction.id) }
            return
        }
        if transaction.isRevoked { return }
        var json = properties(transaction.product, source)
        json["transaction_id"] = .string(transaction.id)
        json["original_transaction_id"] = .string(transaction.original)
        let now = surroundings.wallClock()
        // The same id from whatever source, so that the worker takes one.
        tell(
            EventItem(
                name: "$purchase_completed", customer: owner,
                id: "purchase:\(transaction.id)", occurredAt: now, properties: json))
    }

    /// Submits a purchase that no use has submitted yet.
    func submit(_ transaction: String) async throws -> Deliveries.Verdict {
        let evidence = book.withLock { book in
            book.isConfirmed(transaction) ? nil : book.evidence(transaction)
        }
        guard let evidence else { return .taken }
        switch try await server.purchase(customer: evidence.customer, signed: evidence.signed) {
        case .answered, .unchanged:
            settle(evidence, isTaken: true)
            show()
            refresh()
            return .taken
        case .refused(let error):
            settle(evidence, isTaken: false)
            show()
            return .refused(error)
        case .postponed(let error): return .postponed(error)
        }
    }

    /// The server has a purchase, or will not have it: then it is shown no longer, and not finished, so that
    /// the store hands it out again.
    func settle(_ evidence: Evidence, isTaken: Bool) {
        let isFirst = book.withLock { book in
            let isFirst = !book.isConfirmed(evidence.transaction)
            if isTaken {
                book.confirm(evidence.transaction)
            } else {
                book.drop(evidence.transaction)
            }
            return isFirst
        }
        guard isFirst else { return }
        if isTaken, !evidence.isRevoked {
            // Told before the evidence is retired, once for each purchase.
            tell(
                EventItem(
                    name: "$purchase_synced", customer: evidence.customer,
                    id: "purchase-synced:\(evidence.transaction)",
                    occurredAt: surroundings.wallClock(),
                    properties: JSONObject([
                        ("customer_id", .string(evidence.customer)),
                        ("original_transaction_id", .string(evidence.original)),
                        (
                            "product_id",
                            .string(
                                book.withLock { $0.products[evidence.storeProduct]?.id }
                                    ?? evidence.storeProduct)
                        ),
                        ("transaction_id", .string(evidence.transaction)),
                    ])))
        }
        do throws(NuxieError) {
            try journal.append(.settled(transaction: evidence.transaction))
        } catch {
            log.log(.warning, "\(error)")
        }
        guard isTaken else { return }
        purchases.withLock { memory in
            memory.settled.append(evidence.transaction)
            if memory.settled.count > JournalContent.mostSettled { memory.settled.removeFirst() }
        }
        if evidence.isFinishedHere {
            let store = surroundings.store
            Task { await store.finish(evidence.transaction) }
        }
    }

    /// Keeps with each purchase what the profile says its product grants.
    func rememberGrants() {
        let changed = book.withLock { $0.fillGrants() }
        for evidence in changed {
            do throws(NuxieError) {
                try journal.append(.evidence(evidence))
            } catch {
                log.log(.warning, "\(error)")
            }
        }
    }
}
