internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import JourneyStorage
internal import RunReplay
internal import WorkflowDefinitions

/// One run with what came of verifying it.
struct CheckedRun: Sendable {
    let id: RunID
    let workflow: WorkflowID
    let version: Int
    let status: String
    let decisions: Int
    /// Nil when the run agrees.
    let divergence: Divergence?

    /// Erased values keep it from being checked, or its history is past its retention: nobody's fault.
    var isBeyondChecking: Bool { divergence?.kind == .redacted || divergence?.kind == .notKept }

    /// What is printed of it: the divergence with the run's workflow; `"result": "agrees"` without one.
    var json: JSONValue {
        var json = JSONObject([
            ("run", .string(id.text)), ("workflow", .string(workflow.text)),
            ("version", .integer(version)), ("status", .string(status)),
            ("decisions", .integer(decisions)),
        ])
        guard let divergence else {
            json["result"] = "agrees"
            return .object(json)
        }
        for (key, value) in divergence.json where key != "run" { json[key] = value }
        json["sentence"] = .string(divergence.description)
        return .object(json)
    }
}

/// Verifies pages of runs on every processor, with the definitions they follow.
struct RunCheck {
    private let store: LookStore
    private let changed: WorkflowDefinition?
    private var verifiers: [DefinitionCache.Key: Result<RunVerifier, Unreadable>] = [:]

    /// A definition that histories cannot be verified by.
    private struct Unreadable: Error, Sendable { let sentence: String }

    /// - Parameter changed: asked instead of the version that a run follows.
    init(store: LookStore, changed: WorkflowDefinition? = nil) {
        self.store = store
        self.changed = changed
    }

    /// Reads the definitions that a page needs and that were not met before.
    mutating func prepare(for histories: [StoredHistory]) async throws {
        let missing = Set(histories.map(\.definition)).filter { verifiers[$0] == nil }
        let stored = try await store.definitions(missing.sorted())
        for key in missing {
            guard let found = stored[key] else {
                verifiers[key] = .failure(
                    Unreadable(sentence: "version \(key.version) of \(key.workflow) is not stored"))
                continue
            }
            do throws(PublishedFormError) {
                let followed = try WorkflowParser.load(canonical: found.canonical).definition
                verifiers[key] = .success(
                    changed.map { RunVerifier(changed: $0, followed: followed) }
                        ?? RunVerifier(followed))
            } catch {
                verifiers[key] = .failure(Unreadable(sentence: error.description))
            }
        }
    }

    /// Verifies a page that was prepared for, in its order.
    func check(_ histories: [StoredHistory]) async -> [CheckedRun] {
        let share = 4
        return await withTaskGroup(of: (Int, [CheckedRun]).self) { group in
            for start in stride(from: 0, to: histories.count, by: share) {
                let part = histories[start..<min(start + share, histories.count)]
                // Away from the loop, which serves the database meanwhile.
                group.addTask(executorPreference: globalConcurrentExecutor) {
                    (start, part.map { check($0) })
                }
            }
            var parts: [Int: [CheckedRun]] = [:]
            for await (start, checked) in group { parts[start] = checked }
            return parts.sorted { $0.key < $1.key }.flatMap(\.value)
        }
    }

    /// - Parameter log: the customer's events, where a changed definition is asked about.
    func check(_ history: StoredHistory, log: [LoggedEvent] = []) -> CheckedRun {
        let divergence: Divergence?
        switch (verifiers[history.definition], history.recorded) {
        case (_, _) where history.isCut:
            divergence = Divergence(kind: .notKept, run: history.summary.id)
        case (.success(let verifier)?, .success(let recorded)):
            divergence = verifier.verify(recorded, log: log)
        case (.failure(let unreadable)?, _):
            divergence = Divergence(
                kind: .unreadable, run: history.summary.id, actual: .string(unreadable.sentence))
        case (nil, _):
            divergence = Divergence(
                kind: .unreadable, run: history.summary.id, actual: "its definition was not read")
        case (_, .failure(let error)):
            divergence = Divergence(
                kind: .unreadable, run: history.summary.id, actual: .string(error.description))
        }
        return CheckedRun(
            id: history.summary.id, workflow: history.summary.workflow,
            version: history.summary.version, status: history.summary.status,
            decisions: history.decisions.count, divergence: divergence)
    }
}

extension StoredHistory {
    /// As the verifier takes it.
    var recorded: Result<RecordedRun, StoredFormError> {
        run.map { run in
            RecordedRun(
                id: summary.id,
                decisions: decisions.map {
                    RecordedDecision(number: $0.number, at: $0.at, json: $0.json)
                },
                row: RunRow(
                    run: run, status: summary.status, reason: summary.reason, step: summary.step,
                    endedAt: summary.endedAt, wakeAt: summary.wakeAt, decisions: decisionCount))
        }
    }
}
