internal import JSON

// Consumption: what is written down, sent, and answered.

extension NuxieCore {
    /// A use without an id of the app's. The same use that an earlier call gave up is taken over, so that
    /// trying again does not charge twice.
    func use(
        _ feature: String, amount: Int, entity: String?, isTotal: Bool,
        metadata: [String: any Sendable]?
    ) async throws -> FeatureUsageResult {
        let command = try makeCommand(
            feature, amount: amount, operation: makeID(at: surroundings.wallClock()),
            entity: entity, isTotal: isTotal, metadata: Metadata.json(metadata), caller: .waiting)
        let taken = deliveries.join(
            where: {
                $0.caller == .waiting && $0.asksTheSame(as: command)
                    && $0.metadata == command.metadata
            }, alsoAwaited: false)
        let id = try taken?.0 ?? deliveries.add(.use(command), isAwaited: true)
        let receipt = try await decision(of: id, for: command.customer)
        return FeatureUsageResult(receipt, isTotal: isTotal)
    }

    /// A use that nobody waits for.
    func report(
        _ feature: String, amount: Int, entity: String?, metadata: [String: any Sendable]?
    ) {
        do throws(NuxieError) {
            let command = try makeCommand(
                feature, amount: amount, operation: makeID(at: surroundings.wallClock()),
                entity: entity, isTotal: false, metadata: Metadata.json(metadata),
                caller: .nobody)
            _ = try deliveries.add(.use(command))
        } catch {
            log.log(.error, "useFeature was not taken: \(error)")
        }
    }

    /// A use under the app's own id.
    func consume(
        _ feature: String, quantity: Int, operation: String, entity: String?
    ) async throws -> FeatureConsumptionResult {
        try Arguments.checkKey(operation, "operationId")
        let command = try makeCommand(
            feature, amount: quantity, operation: operation, entity: entity, isTotal: false,
            metadata: nil, caller: .app)
        let pending = deliveries.join(
            where: { $0.customer == command.customer && $0.operation == operation },
            alsoAwaited: true)
        if let (id, present) = pending {
            guard present.asksTheSame(as: command) else {
                throw NuxieError(
                    .operationConflict,
                    "The operationId waits with another command; give each action an id of its own."
                )
            }
            return try await decision(of: id, for: command.customer)
        }
        let id = try deliveries.add(.use(command), isAwaited: true)
        return try await decision(of: id, for: command.customer)
    }

    private func decision(
        of id: Int, for customer: String
    ) async throws -> FeatureConsumptionResult {
        let generation = book.withLock { $0.generation }
        let receipt = try await deliveries.answer(
            of: id, within: configuration.operationTimeout.wholeMilliseconds)
        guard book.withLock({ $0.generation == generation && $0.customer == customer }) else {
            throw NuxieError.identityChanged
        }
        return receipt
    }

    private func makeCommand(
        _ feature: String, amount: Int, operation: String, entity: String?, isTotal: Bool,
        metadata: JSONObject?, caller: UsageCommand.Caller
    ) throws(NuxieError) -> UsageCommand {
        try Arguments.checkKey(feature, "featureId")
        if let entity { try Arguments.checkKey(entity, "entityId") }
        try Arguments.checkAmount(amount, caller == .app ? "quantity" : "amount")
        return book.withLock { book in
            UsageCommand(
                customer: book.customer, feature: feature, operation: operation,
                quantity: amount, entity: entity, isTotal: isTotal, metadata: metadata,
                caller: caller,
                // A cumulative total is never backed by a purchase.
                transaction: isTotal ? nil : book.unconfirmed(granting: feature)?.transaction)
        }
    }

    // MARK: Sending

    func send(_ operation: Operation) async -> Deliveries.Verdict {
        do {
            switch operation {
            case .use(let command): return try await send(command)
            case .submit(let transaction): return try await submit(transaction)
            case .event(let item):
                switch try await server.event(item) {
                case .answered, .unchanged: return .taken
                case .refused(let error): return .refused(error)
                case .postponed(let error): return .postponed(error)
                }
            }
        } catch {
            return .interrupted
        }
    }

    private func send(_ command: UsageCommand) async throws -> Deliveries.Verdict {
        let (ticket, evidence) = book.withLock { book in
            let evidence = command.transaction.flatMap { transaction in
                book.isConfirmed(transaction) ? nil : book.evidence(transaction)
            }
            return (book.ticket(), evidence)
        }
        let outcome = try await server.consume(command, signed: evidence?.signed)
        switch outcome {
        case .answered(let json, _):
            guard let receipt = Wire.receipt(json), receipt.operationId == command.operation,
                receipt.customerId == command.customer
            else { return .postponed(ServerConnection.malformed) }
            book.withLock { $0.admit(receipt, ticket, uptime: surroundings.uptime()) }
            if let evidence { settle(evidence, isTaken: true) }
            show()
            refresh()
            return .receipt(receipt)
        case .refused(let error):
            // Not believed: nothing was written, and asking without the purchase would be another command.
            if let evidence, error.code == .purchaseRefused { settle(evidence, isTaken: false) }
            return .refused(error)
        case .postponed(let error): return .postponed(error)
        case .unchanged: return .postponed(ServerConnection.malformed)
        }
    }
}
