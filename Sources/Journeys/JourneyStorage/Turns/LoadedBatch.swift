internal import JourneyEngine
internal import JourneyModel
internal import JourneyTurns
internal import TimeZones

/// What the loading statements of one batch answered.
struct LoadedBatch {
    /// Customers whose inputs or timers are to be decided, by id.
    var turns: [CustomerTurn] = []
    /// Records that were merged away: their unread inputs belong to the survivor.
    var forwards: [CustomerID: CustomerID] = [:]
    /// Customers whose last turn failed.
    var retried: Set<CustomerID> = []
    /// Ids of arriving events that stood in a log before this batch.
    var knownEvents: Set<EventID> = []
    /// Customers with a row that cannot be read, each with the sentence that says why.
    var unreadable: [CustomerID: String] = [:]
    /// Database time of the batch.
    var now = Instant.earliest

    /// One customer's rows before they become a `CustomerTurn`.
    struct Draft {
        var record: CustomerRecord
        var inputs: [TurnInput] = []
        /// Unread inputs seen that the batch had no room for.
        var leftInputs = 0
        var runs: [Run] = []
        var entries: [EarlierEntry] = []
        var causes: Set<SpentCause> = []
        var log: [Int64: LoggedEvent] = [:]
        var subscriptions: [SubscriptionState] = []
        var bodies: [EventID: [UInt8]] = [:]
        var segments: [SegmentID: Instant] = [:]
        var assignments: [String: String] = [:]
        var dates: [DateEntry] = []
        var features: [String: FeatureFacts] = [:]
        var eventsKnownSince = Instant.earliest

        init(record: CustomerRecord) { self.record = record }

        func turn(now: Instant, earlier: [EventID: Event]) -> CustomerTurn {
            CustomerTurn(
                customer: record, inputs: inputs.map { $0.comparing(with: earlier) },
                hasAllInputs: leftInputs == 0, runs: runs, earlierEntries: entries,
                spentCauses: causes, log: log.values.sorted { $0.ordinal < $1.ordinal },
                subscriptions: subscriptions, bodies: bodies, segments: segments,
                assignments: assignments, dates: dates, features: features,
                eventsKnownSince: eventsKnownSince, now: now)
        }
    }
}

extension TurnInput {
    /// The run that this is for by name: of an effect's result, or of an operator's command.
    var resultRun: RunID? {
        switch content {
        case .result(let result): result.run
        case .command(let command): command.run
        case .delivery, .event, .start, .exit, .schedule, .replay: nil
        }
    }

    /// A delivery with the event that an earlier one of its id became.
    fileprivate func comparing(with earlier: [EventID: Event]) -> TurnInput {
        guard let id = event, let first = earlier[id] else { return self }
        var input = self
        switch content {
        case .delivery(var delivery):
            delivery.earlier = first
            input.content = .delivery(delivery)
        case .replay(var delivery, let replay):
            delivery.earlier = first
            input.content = .replay(delivery, replay)
        case .event, .result, .command, .start, .exit, .schedule: break
        }
        return input
    }
}
