internal import JSON

/// What survives the process: operations on their way, purchases, and which of them the server has.
protocol OperationJournal: Sendable {
    /// What an earlier process left.
    var recovered: JournalContent { get }

    /// Writes a record down before it is acted upon. It survives the process from here on, and a loss of
    /// power from ``synchronize()`` on.
    ///
    /// - Throws: when it was not written.
    func append(_ record: JournalRecord) throws(NuxieError)

    /// Returns once everything appended is on the disk itself.
    func synchronize() throws(NuxieError)

    /// Lets another process have the folder.
    func close()
}

/// One line of the journal.
enum JournalRecord: Sendable, Hashable {
    /// An operation that is to be sent.
    case operation(id: Int, Operation)
    /// It was not taken yet: how often it was tried, and when it may be tried again (ms since 1970).
    case postponed(id: Int, attempts: Int, until: Int64)
    /// It is over.
    case finished(id: Int)
    /// A purchase that the device verified.
    case evidence(Evidence)
    /// The server has a purchase, or will not have it.
    case settled(transaction: String)
    /// Who uses the app.
    case identity(Identity)
}

/// Who uses the app.
struct Identity: Sendable, Hashable {
    /// Told by the app; nil for nobody.
    var identified: String?
    /// Made up by the SDK.
    var anonymous: String

    var customer: String { identified ?? anonymous }
}

/// What the lines of a journal come to.
struct JournalContent: Sendable, Hashable {
    struct Pending: Sendable, Hashable {
        let operation: Operation
        var attempts = 0
        var notBefore: Int64 = 0
    }

    var pending: [Int: Pending] = [:]
    var evidence: [String: Evidence] = [:]
    /// Newest last.
    var settled: [String] = []
    var identity: Identity?
    var lastID = 0

    /// How many settled purchases are remembered, so that none is submitted anew.
    static let mostSettled = 500

    mutating func take(_ record: JournalRecord) {
        switch record {
        case .operation(let id, let operation):
            pending[id] = Pending(operation: operation)
            lastID = max(lastID, id)
        case .postponed(let id, let attempts, let until):
            pending[id]?.attempts = attempts
            pending[id]?.notBefore = until
        case .finished(let id): pending[id] = nil
        case .evidence(let item): evidence[item.transaction] = item
        case .settled(let transaction):
            evidence[transaction] = nil
            settled.removeAll { $0 == transaction }
            settled.append(transaction)
            if settled.count > Self.mostSettled { settled.removeFirst() }
        case .identity(let identity): self.identity = identity
        }
    }

    /// The records that say the same and no more.
    var records: [JournalRecord] {
        var records: [JournalRecord] = []
        if let identity { records.append(.identity(identity)) }
        records += settled.map { .settled(transaction: $0) }
        records += evidence.values.sorted { $0.transaction < $1.transaction }.map { .evidence($0) }
        for (id, item) in pending.sorted(by: { $0.key < $1.key }) {
            records.append(.operation(id: id, item.operation))
            if item.attempts > 0 {
                records.append(
                    .postponed(id: id, attempts: item.attempts, until: item.notBefore))
            }
        }
        return records
    }
}
