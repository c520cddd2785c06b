internal import JourneyModel

/// Decides which record each unrouted input belongs to (S10), from what is known about their ids.
///
/// Only a person's own id identifies a record. An alias, or an id that a provider made up, links to a
/// record without identifying it, and gives way when it comes as somebody's own id: providers list
/// several real people as aliases of one another, and two identified records are never joined here.
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
    }

    struct Realm: Sendable, Hashable {
        var environment: String
        var app: String?
    }

    /// The record of each row; rows without a usable id stand in ``unassigned``.
    private(set) var assigned: [Int64: Record] = [:]
    private(set) var unassigned: [Int64] = []
    private(set) var newRecords: [Realm] = []
    /// Ids that nothing stood for yet.
    private(set) var added: [Key: Link] = [:]
    /// Known ids that now are somebody's own.
    private(set) var raised: [Key: Link] = [:]
    /// Inputs whose ids belong to two identified records.
    private(set) var conflicts = 0

    private var links: [Key: Link]
    private var identified: Set<Record>

    /// - Parameters:
    ///   - links: what the rows' ids stand for, forwarding followed.
    ///   - identified: records among them that have a person's own id.
    init(rows: [Row], links: [Key: Link], identified: Set<Record>) {
        self.links = links
        self.identified = identified
        for row in rows { route(row) }
    }

    private mutating func route(_ row: Row) {
        let own = row.person.id.map { key($0, of: row) }
        let aliases = row.person.aliases.map { key($0, of: row) }
        if own == nil, aliases.isEmpty {
            unassigned.append(row.sequence)
            return
        }
        let isPersons = own != nil && !row.person.isAnonymous
        let record = record(of: own, aliases: aliases, isPersons: isPersons, row: row)
        assigned[row.sequence] = record
        if let own { link(own, to: record, isOwn: isPersons) }
        var isConflict = false
        for alias in aliases {
            if let other = links[alias]?.record {
                isConflict = isConflict || other != record && isIdentified(other, record)
            } else {
                link(alias, to: record, isOwn: false)
            }
        }
        if isConflict { conflicts += 1 }
    }

    private mutating func record(
        of own: Key?, aliases: [Key], isPersons: Bool, row: Row
    ) -> Record {
        if let own, let known = links[own] {
            // Known so far only as somebody else's alias: a record of its own.
            let isBorrowed = isPersons && !known.isOwn && identified.contains(known.record)
            return isBorrowed ? makeRecord(row) : known.record
        }
        let candidates = aliases.compactMap { links[$0]?.record }
        if let named = candidates.first(where: identified.contains), !isPersons { return named }
        if let open = candidates.first(where: { !identified.contains($0) }) { return open }
        return makeRecord(row)
    }

    private mutating func makeRecord(_ row: Row) -> Record {
        newRecords.append(Realm(environment: row.environment, app: row.app))
        return .new(newRecords.count - 1)
    }

    private mutating func link(_ key: Key, to record: Record, isOwn: Bool) {
        let link = Link(record: record, isOwn: isOwn)
        if isOwn { identified.insert(record) }
        guard let known = links[key] else {
            links[key] = link
            added[key] = link
            return
        }
        guard isOwn, !known.isOwn else { return }
        if known.record != record { conflicts += 1 }
        links[key] = link
        if added[key] != nil { added[key] = link } else { raised[key] = link }
    }

    private func isIdentified(_ left: Record, _ right: Record) -> Bool {
        identified.contains(left) && identified.contains(right)
    }

    private func key(_ id: String, of row: Row) -> Key {
        Key(environment: row.environment, app: row.app ?? "", id: id)
    }
}
