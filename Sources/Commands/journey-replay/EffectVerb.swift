internal import CommandLine
internal import JourneyModel
internal import JourneyStorage

extension ReplayCall {
    /// As ``EffectOutcome`` words them, and what the storage adds before and instead of an outcome.
    private static let effectStatuses = [
        "pending", "succeeded", "failed", "timed_out", "expired", "unknown", "suppressed",
        "withdrawn",
    ]

    func effects() async throws {
        let selector = try selector(
            "EFFECT", known: CommandSpecification.effectTerms, statuses: Self.effectStatuses)
        try await withDatabase { pool in
            let store = LookStore(pool: pool)
            if parsed.allArguments("EFFECT").isEmpty {
                let limit = min(selector.limit, LookStore.listLimit)
                let effects = try await effects(selector, limit, in: store)
                printTable(EffectView.table(effects), limit: limit)
            } else {
                printTable(EffectView.table(try await named(selector.ids, in: store)))
            }
            let holding = try await store.holdingConnections()
            if holding > 0 {
                terminal.error.writeLine(
                    "A worker holds effects back (\(counted(holding, "connection"))): it was started "
                        + "with --hold-effects and sends nothing.")
            }
        }
    }

    /// The effects with these ids, and those of runs with these, each once.
    private func named(_ ids: [String], in store: LookStore) async throws -> [EffectView] {
        var found: [EffectView] = []
        for id in ids {
            let one: [EffectView]
            switch try await store.effectLookup.find(id, parsed.path) {
            case .effect(let effect): one = [effect]
            case .run(let run):
                var filter = EffectFilter()
                filter.run = run.id
                filter.limit = LookStore.listLimit
                one = try await store.effects(filter)
            }
            found += one.filter { effect in
                !found.contains { $0.invocation == effect.invocation }
            }
        }
        return found
    }

    /// Effects know their run; what belongs to a customer or workflow is found by the runs.
    private func effects(
        _ selector: Selector, _ limit: Int, in store: LookStore
    ) async throws -> [EffectView] {
        var filter = EffectFilter()
        filter.status = selector[.status]
        filter.since = selector.since
        filter.until = selector.until
        // A step is not asked of the storage, so what it leaves out must not count.
        filter.limit = selector[.step] == nil ? limit : LookStore.listLimit
        let environment = selector[.environment] ?? parsed.option("environment")
        var found: [EffectView] = []
        if selector[.customer] == nil, selector[.workflow] == nil, environment == nil {
            found = try await store.effects(filter)
        } else {
            var runs = RunFilter()
            runs.customer = selector[.customer]
            runs.workflow = selector[.workflow]
            runs.environment = environment
            runs.app = parsed.option("app")
            for run in try await store.runs(runs, upTo: LookStore.listLimit) {
                filter.run = run.id
                found += try await store.effects(filter)
            }
            found.sort { ($0.requestedAt, $1.invocation) > ($1.requestedAt, $0.invocation) }
        }
        return Array(
            found.filter { effect in selector[.step].map { effect.step.text == $0 } ?? true }
                .prefix(limit))
    }
}
