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

        init(record: CustomerRecord) { self.record = record }

        func turn(now: Instant, earlier: [EventID: Event]) -> CustomerTurn {
            CustomerTurn(
                customer: record, inputs: inputs.map { $0.comparing(with: earlier) },
                hasAllInputs: leftInputs == 0, runs: runs, earlierEntries: entries,
                spentCauses: causes, log: log.values.sorted { $0.ordinal < $1.ordinal }, now: now)
        }
    }
}

extension TurnInput {
    /// The id of the event that this input is or becomes; nil for results.
    var event: EventID? {
        switch content {
        case .delivery(let delivery):
            Event.makeID(
                connector: delivery.connector, providerEventID: delivery.providerEventID)
        case .event(let event): event.id
        case .result: nil
        }
    }

    /// A delivery with the event that an earlier one of its id became.
    fileprivate func comparing(with earlier: [EventID: Event]) -> TurnInput {
        guard case .delivery(var delivery) = content, let id = event, let first = earlier[id]
        else { return self }
        delivery.earlier = first
        return TurnInput(sequence: sequence, recordedAt: recordedAt, content: .delivery(delivery))
    }
}
