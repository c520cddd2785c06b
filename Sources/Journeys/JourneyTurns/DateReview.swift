internal import JourneyModel
internal import TimeZones

/// A customer's dates that start runs, as a turn goes on.
struct DateReview {
    private var entries: [DateEntry.Key: DateEntry]

    init(entries: [DateEntry]) {
        self.entries = Dictionary(
            entries.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
    }

    subscript(key: DateEntry.Key) -> DateEntry? {
        get { entries[key] }
        set { entries[key] = newValue }
    }

    /// The entry that is due first; by key among equals.
    var firstPending: DateEntry? {
        entries.values.filter(\.isPending)
            .min { ($0.dueAt, $0.key) < ($1.dueAt, $1.key) }
    }

    func pending(of workflow: WorkflowID) -> [DateEntry.Key] {
        entries.values.filter { $0.isPending && $0.key.workflow == workflow }.map(\.key).sorted()
    }

    /// Rows to write: the entry as it is now, or nil for one that is gone.
    func changes(since before: [DateEntry]) -> [DateChange] {
        let old = Dictionary(before.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        return Set(old.keys).union(entries.keys).sorted().compactMap { key in
            old[key] == entries[key] ? nil : DateChange(key: key, entry: entries[key])
        }
    }
}
