/// The rules of many zones under one release of tzdata, as a value that a decision can be given.
///
/// Two sets are the same when release and names are: rules of one release do not differ.
package struct TimeZoneSet: Sendable, Hashable {
    /// The release of tzdata, such as `2025b`.
    package let version: String
    private let rules: [String: TimeZoneRules]

    package init(version: String, rules: [TimeZoneRules]) {
        self.version = version
        self.rules = Dictionary(rules.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
    }

    /// Nothing but `Etc/UTC` and `UTC`, which need no tzdata.
    package static let utcOnly = TimeZoneSet(
        version: "fixed",
        rules: [.utc, TimeZoneRules(name: "UTC", fixedOffsetSeconds: 0, version: "fixed")])

    /// The rules of a zone; nil for a name that the database does not have.
    package func rules(named name: String) -> TimeZoneRules? {
        rules[name] ?? (name == TimeZoneRules.utc.name ? .utc : nil)
    }

    /// The names, in order.
    package var names: [String] { rules.keys.sorted() }

    package static func == (left: TimeZoneSet, right: TimeZoneSet) -> Bool {
        left.version == right.version && left.rules.keys == right.rules.keys
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(version)
        hasher.combine(rules.count)
    }
}

extension TimeZoneDatabase {
    /// Reads every zone the database lists, some six hundred, so that a decision needs no file.
    ///
    /// A listed zone that cannot be read is left out: it is unknown, as a name that is not listed.
    package func everyZone() -> TimeZoneSet {
        var all = names.compactMap { try? rules(named: $0) }
        // A directory without a list still has what no release changes.
        if all.isEmpty { all = [.utc] }
        return TimeZoneSet(version: version, rules: all)
    }
}
