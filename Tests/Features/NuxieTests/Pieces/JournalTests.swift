import Glibc
import JSON
import TestMaterial
import TestSupport
import Testing

@testable import Nuxie

/// What a file keeps of operations, whatever happens to it.
struct JournalTests {
    private static func use(_ operation: String, metadata: JSONObject? = nil) -> Nuxie.Operation {
        .use(
            UsageCommand(
                customer: "c", feature: "credits", operation: operation, quantity: 2,
                entity: "p", isTotal: false, metadata: metadata, caller: .app, transaction: "t"))
    }

    private static let event = Nuxie.Operation.event(
        EventItem(
            name: "$identify", customer: "c", id: "e1", occurredAt: 7,
            properties: JSONObject([("a", 1)])))

    private static let evidence = Evidence(
        transaction: "t", original: "o", storeProduct: "p", signed: "s.s.s", customer: "c",
        grants: [.init(feature: "x", type: "boolean", isUnlimited: false, allowance: 3)],
        isRevoked: true, isFinishedHere: true)

    private let silent = SDKLog(level: .none, handler: { _, _ in })

    private func open(_ folder: String, _ log: SDKLog? = nil) throws -> FileJournal {
        try FileJournal(folder: folder, log: log ?? silent)
    }

    @Test func `what was written is there after a restart, and what is over is not`() throws {
        try TemporaryFolder.with { folder in
            let journal = try open(folder + "/deep/er")
            try journal.append(.identity(Identity(identified: "c", anonymous: "a")))
            try journal.append(
                .operation(id: 1, Self.use("o1", metadata: JSONObject([("k", ["x", 1.5.json])]))))
            try journal.append(.operation(id: 2, Self.event))
            try journal.append(.operation(id: 3, Self.use("o3")))
            try journal.append(.operation(id: 4, .submit(transaction: "t")))
            try journal.append(.postponed(id: 3, attempts: 2, until: 99))
            try journal.append(.finished(id: 1))
            try journal.append(.evidence(Self.evidence))
            try journal.append(.settled(transaction: "u"))
            try journal.synchronize()
            journal.close()
            let again = try open(folder + "/deep/er")
            let content = again.recovered
            #expect(Set(content.pending.keys) == [2, 3, 4])
            #expect(content.pending[2]?.operation == Self.event)
            #expect(content.pending[3]?.operation == Self.use("o3"))
            #expect(content.pending[3]?.attempts == 2)
            #expect(content.pending[3]?.notBefore == 99)
            #expect(content.evidence == ["t": Self.evidence])
            #expect(content.settled == ["u"])
            #expect(content.identity == Identity(identified: "c", anonymous: "a"))
            #expect(content.lastID == 4)
            again.close()
        }
    }

    @Test func `every record reads back as it was written`() {
        let records: [JournalRecord] = [
            .operation(id: 9, Self.use("ö-1", metadata: JSONObject([("k", "line\nbreak")]))),
            .operation(id: 10, Self.event), .operation(id: 11, .submit(transaction: "t")),
            .postponed(id: 9, attempts: 3, until: 1), .finished(id: 9), .evidence(Self.evidence),
            .settled(transaction: "t"), .identity(Identity(identified: nil, anonymous: "a")),
        ]
        for record in records {
            #expect(JournalRecord(line: record.line.dropLast()) == record)
        }
    }

    @Test func `wherever the file is cut, whole lines are kept and the rest is cut with a note`()
        throws
    {
        let lines = [1, 2, 3].map { JournalRecord.operation(id: $0, Self.use("o\($0)")).line }
        let whole = lines.flatMap { $0 }
        for length in stride(from: 0, through: whole.count, by: 7) {
            try TemporaryFolder.with { folder in
                try write(Array(whole[..<length]), to: folder + "/operations.journal")
                let notes = TestSignal<String>()
                let journal = try open(
                    folder, SDKLog(level: .warning, handler: { notes.send($1) }))
                let ends = lines.indices.map { index in
                    lines[...index].reduce(0) { $0 + $1.count }
                }
                // A line without its end is whole all the same.
                let kept = ends.count { $0 - 1 <= length }
                #expect(journal.recovered.pending.count == kept, "cut at \(length)")
                let isCut = !ends.contains(length) && !ends.contains(length + 1) && length > 0
                #expect(notes.values.isEmpty == !isCut, "cut at \(length)")
                try journal.append(.operation(id: 4, Self.use("o4")))
                journal.close()
                let again = try open(folder)
                #expect(again.recovered.pending.count == kept + 1)
                again.close()
            }
        }
    }

    @Test func `a damaged line in the middle costs itself alone`() throws {
        var bytes = [1, 2, 3].flatMap { JournalRecord.operation(id: $0, Self.use("o\($0)")).line }
        bytes[bytes.count / 2] ^= 1
        try TemporaryFolder.with { folder in
            try write(bytes, to: folder + "/operations.journal")
            let journal = try open(folder)
            #expect(Set(journal.recovered.pending.keys) == [1, 3])
            journal.close()
        }
    }

    @Test func `a file that speaks of what is over is written anew`() throws {
        try TemporaryFolder.with { folder in
            let journal = try open(folder)
            try journal.append(.identity(Identity(identified: nil, anonymous: "a")))
            for id in 1...1_500 {
                try journal.append(.operation(id: id, Self.use("o\(id)")))
                if id > 1 { try journal.append(.finished(id: id)) }
            }
            journal.close()
            let size = Conformance.bytes(of: folder + "/operations.journal")?.count ?? 0
            #expect(size < FileJournal.compactionSize + 1_000)
            let again = try open(folder)
            #expect(again.recovered.pending.count == 1)
            #expect(again.recovered.identity?.anonymous == "a")
            again.close()
        }
    }

    @Test func `a folder has one process, and a place that cannot be written is told`() throws {
        try TemporaryFolder.with { folder in
            let journal = try open(folder)
            let error = #expect(throws: NuxieError.self) { try open(folder) }
            #expect(error?.code == .storageFailed)
            #expect(error?.message.contains("Another process") == true)
            journal.close()
            let again = try open(folder)
            again.close()
            let file = #expect(throws: NuxieError.self) {
                try open(folder + "/operations.journal/below")
            }
            #expect(file?.code == .storageFailed)
        }
    }

    private func write(_ bytes: [UInt8], to path: String) throws {
        let file = try #require(fopen(path, "wb"))
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
    }
}

extension Double {
    fileprivate var json: JSONValue { JSONNumber(literal: "\(self)").map { .number($0) } ?? nil }
}
