internal import JourneyModel

/// Decides which record each unrouted input belongs to (S10), from what is known about their ids.
///
/// Only a person's own id identifies a record. An alias, or an id that a provider made up, links to a
/// record without identifying it, and gives way when it comes as somebody's own id: providers list
/// several real people as aliases of one another, and two identified records are joined only where the
/// app itself says so.
///
/// An input that shows two records to be one person waits until they are merged, and so does whatever
/// came after it for either: the merge comes first, then the inputs in their order.
struct RoutingPlan: Sendable, Hashable {
    /// An id within its environment and app.
    struct Key: Sendable, Hashable, Comparable {
        var environment: String
        /// Empty for none.
        var app: String
        var id: String

        static func < (left: Key, right: Key) -> Bool {
            (left.environment, left.app, left.id) < (right.environment, right.app, right.id)
        }
    }

    /// A record that exists, or the one that this plan makes at that place of ``newRecords``.
    enum Record: Sendable, Hashable {
        case existing(Int64)
        case new(Int)
    }

    struct Link: Sendable, Hashable {
        var record: Record
        var isOwn: Bool
    }

    struct Row: Sendable, Hashable {
        var sequence: Int64
        var environment: String
        var app: String?
        var person: Event.Person
        /// The app itself says that the ids are one person.
        var joins = false
        /// Of an input without an id: the record that has the subscription it is about.
        var owner: Int64?
    }

    struct Realm: Sendable, Hashable {
        var environment: String
        var app: String?
    }

    /// Two records that are one person, with the first input that says so and all that wait for it.
    struct Merge: Sendable, Hashable {
        var one: Int64
        var other: Int64
        var input: Int64
    }

    /// Two identified records that one input names.
    struct Conflict: Sendable, Hashable {
        var one: Record
        var other: Record
        var input: Int64
    }

    /// The record of each row; rows without a usable id stand in ``unassigned``.
    private(set) var assigned: [Int64: Record] = [:]
    private(set) var unassigned: [Int64] = []
    /// Rows that wait for a merge.
    private(set) var waiting: [Int64] = []
    /// Merges to be made before ``waiting`` can be routed, the oldest wish first.
    private(set) var merges: [Merge] = []
    private(set) var newRecords: [Realm] = []
    /// Ids that nothing stood for yet.
    private(set) var added: [Key: Link] = [:]
    /// Known ids that now are somebody's own.
    private(set) var raised: [Key: Link] = [:]
    /// Inputs whose ids belong to two identified records.
    private(set) var conflicts: [Conflict] = []

    private var links: [Key: Link]
    private var identified: Set<Record>
    private var heldKeys: Set<Key>
    private var heldRecords: Set<Record>

    /// - Parameters:
    ///   - links: what the rows' ids stand for, forwarding followed.
    ///   - identified: records among them that have a person's own id.
    ///   - heldKeys: ids of earlier rows that cannot be routed yet.
    ///   - heldRecords: the records of such ids.
    init(
        rows: [Row], links: [Key: Link], identified: Set<Record>, heldKeys: Set<Key> = [],
        heldRecords: Set<Record> = []
    ) {
        self.links = links
        self.identified = identified
        self.heldKeys = heldKeys
        self.heldRecords = heldRecords
        for row in rows { route(row) }
    }

    private mutating func route(_ row: Row) {
        let own = row.person.id.map { key($0, of: row) }
        let aliases = row.person.aliases.map { key($0, of: row) }.filter { $0 != own }
        if own == nil, aliases.isEmpty {
            guard let owner = row.owner.map({ Record.existing($0) }) else {
                unassigned.append(row.sequence)
                return
            }
            if heldRecords.contains(owner) {
                waiting.append(row.sequence)
            } else {
                assigned[row.sequence] = owner
            }
            return
        }
        let keys = aliases + (own.map { [$0] } ?? [])
        let isHeld = keys.contains { key in
            heldKeys.contains(key) || links[key].map { heldRecords.contains($0.record) } ?? false
        }
        if isHeld { return hold(row, keys) }
        let isPersons = own != nil && !row.person.isAnonymous
        let choice = choose(own: own, aliases: aliases, isPersons: isPersons, joins: row.joins)
        if let target = choice.target, !choice.merges.isEmpty {
            want(target, choice.merges, row)
            return hold(row, keys)
        }
        let record = choice.target ?? makeRecord(row)
        assigned[row.sequence] = record
        if let own { link(own, to: record, isOwn: isPersons, of: row) }
        for alias in aliases {
            if let known = links[alias], known.record != record {
                if identified.contains(known.record) { note(record, known.record, row) }
            } else {
                link(alias, to: record, isOwn: row.joins, of: row)
            }
        }
    }

    // MARK: Whose it is

    private struct Choice {
        /// Nil for a new record.
        var target: Record?
        /// Records that are to go into it first.
        var merges: [Record] = []
    }

    private func choose(
        own: Key?, aliases: [Key], isPersons: Bool, joins: Bool
    ) -> Choice {
        var others: [Record] = []
        for alias in aliases {
            guard let record = links[alias]?.record, !others.contains(record) else { continue }
            others.append(record)
        }
        let named = others.filter(identified.contains)
        let open = others.filter { !identified.contains($0) }
        var known = own.flatMap { links[$0] }
        if let found = known, isPersons, !joins, !found.isOwn, identified.contains(found.record) {
            // Known so far only as somebody else's alias: a record of its own.
            known = nil
        }
        if joins {
            guard let target = known?.record ?? named.first ?? open.first else { return Choice() }
            return Choice(target: target, merges: others.filter { $0 != target })
        }
        let mine = known?.record
        if isPersons || mine.map(identified.contains) ?? false {
            guard let target = mine ?? open.first else { return Choice() }
            return Choice(target: target, merges: open.filter { $0 != target })
        }
        // Nobody's own id: it goes to the one person that is named. Which of several it would be is a
        // guess, and what is merged is never parted again.
        guard let target = mine ?? named.first ?? open.first else { return Choice() }
        if named.count > 1 {
            return Choice(
                target: target,
                merges: mine == nil ? [] : open.filter { $0 != target })
        }
        let into = named.first ?? target
        let all = (mine.map { [$0] } ?? []) + open
        var merges: [Record] = []
        for record in all where record != into && !merges.contains(record) {
            merges.append(record)
        }
        return Choice(target: into, merges: merges)
    }

    /// A record of this very plan cannot be merged yet: the next plan sees it as one that exists.
    private mutating func want(_ target: Record, _ records: [Record], _ row: Row) {
        guard case .existing(let one) = target else { return }
        for case .existing(let other) in records {
            merges.append(Merge(one: one, other: other, input: row.sequence))
        }
    }

    private mutating func hold(_ row: Row, _ keys: [Key]) {
        waiting.append(row.sequence)
        for key in keys {
            heldKeys.insert(key)
            if let record = links[key]?.record { heldRecords.insert(record) }
        }
    }

    private mutating func note(_ one: Record, _ other: Record, _ row: Row) {
        let conflict = Conflict(one: one, other: other, input: row.sequence)
        if !conflicts.contains(conflict) { conflicts.append(conflict) }
    }

    private mutating func makeRecord(_ row: Row) -> Record {
        newRecords.append(Realm(environment: row.environment, app: row.app))
        return .new(newRecords.count - 1)
    }

    private mutating func link(_ key: Key, to record: Record, isOwn: Bool, of row: Row) {
        let link = Link(record: record, isOwn: isOwn)
        if isOwn { identified.insert(record) }
        guard let known = links[key] else {
            links[key] = link
            added[key] = link
            return
        }
        guard isOwn, !known.isOwn else { return }
        if known.record != record { note(record, known.record, row) }
        links[key] = link
        if added[key] != nil { added[key] = link } else { raised[key] = link }
    }

    private func key(_ id: String, of row: Row) -> Key {
        Key(environment: row.environment, app: row.app ?? "", id: id)
    }
}
