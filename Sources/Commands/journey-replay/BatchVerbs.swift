internal import CommandLine
internal import JSON
internal import JourneyStorage
internal import JourneyTurns
internal import TimeZones

extension ReplayCall {
    func listBatches() async throws {
        let limit = try parsed.integer("limit", in: 1...1_000) ?? 100
        try await withDatabase { pool in
            printTable(
                Batch.table(try await BatchStore(pool: pool).batches(limit: limit)), limit: limit)
        }
    }

    func showBatch() async throws {
        let id = try batchID(parsed.argument("BATCH") ?? "")
        try await withDatabase { pool in
            let store = BatchStore(pool: pool)
            guard let batch = try await store.batch(id) else {
                throw ReplayFailure.notFound(
                    "There is no batch \(id); journey-replay batches list shows them.")
            }
            switch format() {
            case .jsonl: terminal.output.writeLine(batch.json.text)
            case .ids: terminal.output.writeLine(String(id))
            case .table, .json: terminal.output.writeLine(batch.json.pretty)
            }
        }
    }

    func findBatch() async throws {
        let id = try batchID(parsed.argument("BATCH") ?? "")
        try await withDatabase { pool in
            do {
                try await tell(id, in: BatchStore(pool: pool))
            } catch let failure as ReplayFailure where failure.code == .partly {
                // To look is no failure, however the batch stands.
                terminal.error.writeLine(failure.sentence)
            }
        }
    }

    func pauseBatches() async throws { try await steerBatches(to: .paused, "Pause") }

    func resumeBatches() async throws { try await steerBatches(to: .running, "Resume") }

    func cancelBatches() async throws { try await steerBatches(to: .cancelled, "Cancel") }

    private func steerBatches(to state: Batch.State, _ word: String) async throws {
        let reason = try changeReason()
        let ids = try parsed.allArguments("BATCH").map { try batchID($0) }
        try await withDatabase(changes: true) { pool in
            let store = BatchStore(pool: pool)
            var batches: [Batch] = []
            for id in ids {
                guard let batch = try await store.batch(id) else {
                    throw ReplayFailure.notFound(
                        "There is no batch \(id); journey-replay batches list shows them.")
                }
                guard batch.state.isOpen else {
                    throw ReplayFailure.refused(
                        "Batch \(id) is over (\(batch.state.rawValue)); leave it out.")
                }
                if batch.state != state { batches.append(batch) }
            }
            guard
                try mayChange(
                    Batch.table(batches), "batch",
                    question: "\(word) \(counted(batches.count, "batch"))?")
            else { return }
            let (audit, changed) = try await store.set(
                batches.map(\.id), to: state, request(reason, selected: batches.count))
            let sum = "\(counted(changed.count, "batch")) now \(state.rawValue); audit \(audit)."
            if changed.count < batches.count { throw ReplayFailure(.partly, sum) }
            terminal.error.writeLine(sum)
        }
    }

    private func batchID(_ word: String) throws(UsageError) -> Int64 {
        if let id = Int64(word), id > 0 { return id }
        throw UsageError(
            path: parsed.path,
            "A batch's id is a number, not \"\(word.prefix(64))\"; journey-replay batches list "
                + "shows them.")
    }
}

extension Batch {
    var json: JSONValue {
        var row = JSONObject([
            ("id", .integer(id)), ("kind", .string(kind.rawValue)),
            ("state", .string(state.rawValue)), ("passed", .integer(passed)),
            ("total", .integer(total)), ("done", .integer(done)), ("unable", .integer(unable)),
            ("rate", .integer(rate)), ("created_at", .string(createdAt.description)),
        ])
        row["ended_at"] = endedAt.map { .string($0.description) }
        row["error"] = error.map { .string($0) }
        row["who"] = .string(who)
        row["reason"] = .string(reason)
        row["selection"] = .object(selection.json)
        row["options"] = .object(replay.json)
        return .object(row)
    }

    static func table(_ batches: [Batch]) -> Table {
        Table(
            columns: [
                Table.Column("BATCH", key: "id", alignment: .right),
                Table.Column("KIND", key: "kind"), Table.Column("STATE", key: "state"),
                Table.Column("PASSED", key: "passed", alignment: .right),
                Table.Column("OF", key: "total", alignment: .right),
                Table.Column("DONE", key: "done", alignment: .right),
                Table.Column("UNABLE", key: "unable", alignment: .right),
                Table.Column("CREATED", key: "created_at"), Table.Column("ENDED", key: "ended_at"),
                Table.Column("REASON", key: "reason"), Table.Column("ERROR", key: "error"),
            ], rows: batches.map(\.json))
    }
}
