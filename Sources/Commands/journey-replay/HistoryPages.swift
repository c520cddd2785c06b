internal import CommandLine
internal import JourneyModel
internal import JourneyStorage

/// The histories of a selection of runs, a page at a time: however many there are, one page is held
/// and the next one is on its way.
struct HistoryPages: Sendable {
    /// Where the next page begins.
    enum Place: Sendable {
        case ids(ArraySlice<RunSummary>)
        /// After a run, with so many left of the limit.
        case filter(RunFilter, left: Int)
    }

    let store: LookStore
    /// The first page's place.
    let start: Place

    /// - Parameter place: nil is after the last page.
    /// - Returns: the page, empty after the last, and the place of the next one.
    func page(_ place: Place?) async throws -> (histories: [StoredHistory], next: Place?) {
        switch place {
        case nil: return ([], nil)
        case .ids(let runs)?:
            let page = runs.prefix(LookStore.historyPage)
            let rest = runs.dropFirst(page.count)
            return (
                try await store.histories(of: Array(page)), rest.isEmpty ? nil : .ids(rest)
            )
        case .filter(var filter, let left)?:
            filter.limit = min(left, LookStore.historyPage)
            let runs = try await store.runs(filter)
            let histories = try await store.histories(of: runs)
            guard runs.count == filter.limit, left > runs.count else { return (histories, nil) }
            filter.after = runs.last
            return (histories, .filter(filter, left: left - runs.count))
        }
    }

    /// Runs in all; for progress.
    func count() async throws -> Int64 {
        switch start {
        case .ids(let runs): Int64(runs.count)
        case .filter(let filter, let left): min(try await store.count(filter), Int64(left))
        }
    }
}

extension ReplayCall {
    /// The runs that the line selects: its ids, or its terms, or every run.
    ///
    /// - Parameter workflow: set where only runs of one workflow make sense.
    func historyPages(
        of workflow: WorkflowID? = nil, in store: LookStore
    ) async throws -> HistoryPages {
        let selector = try selector(
            "RUN", known: CommandSpecification.runTerms, statuses: Self.runStatuses)
        if parsed.allArguments("RUN").isEmpty {
            var filter = runFilter(selector)
            if let workflow { filter.workflow = workflow.text }
            let limit = parsed.option("limit") == nil ? Int.max : selector.limit
            return HistoryPages(store: store, start: .filter(filter, left: limit))
        }
        var runs: [RunSummary] = []
        for id in selector.ids { runs.append(try await find(id, in: store)) }
        if let workflow, let other = runs.first(where: { $0.workflow != workflow }) {
            throw ReplayFailure(
                .usage,
                "The run \(other.id) follows \(other.workflow), but the definition is of \(workflow); "
                    + "leave the run out or name the other's file.")
        }
        return HistoryPages(store: store, start: .ids(runs[...]))
    }
}
