import FeatureModel
import JSON
import Locks
import TestMaterial
import TestSupport
import Testing

@testable import Nuxie

/// An SDK with a network, a store and clocks of the test's own, on a real folder.
final class SDKTestWorld: Sendable {
    let transport: FakeTransport
    let store = FakeStore()
    let time = ManualTime()
    let lines = Guarded<[String]>([])
    let folder: String
    private let made = Guarded<[NuxieSDK]>([])

    private init(folder: String, transport: FakeTransport) {
        self.folder = folder
        self.transport = transport
    }

    static func with(
        _ answers: @escaping FakeTransport.Answers,
        _ body: (SDKTestWorld) async throws -> Void
    ) async throws {
        try await TemporaryFolder.with { folder in
            let world = SDKTestWorld(folder: folder, transport: FakeTransport(answers))
            let result: Result<Void, any Error>
            do {
                result = .success(try await body(world))
            } catch {
                result = .failure(error)
            }
            for sdk in world.made.withLock({ $0 }) { await sdk.shutdown() }
            try result.get()
        }
    }

    /// Starts an SDK; another one on the same folder needs the first to be shut down.
    func start(
        folder: String? = nil, journal: (any OperationJournal)? = nil,
        changes: (inout NuxieConfiguration) -> Void = { _ in }
    ) throws -> NuxieSDK {
        var configuration = NuxieConfiguration(
            apiKey: "pk_test_sdk", apiEndpoint: "http://features.test")
        configuration.storageFolder = folder ?? self.folder
        configuration.logLevel = .debug
        configuration.logHandler = { [self] level, line in
            lines.withLock { $0.append("\(level): \(line)") }
        }
        changes(&configuration)
        let sdk = NuxieSDK()
        try sdk.setup(
            with: configuration,
            surroundings: Surroundings(
                wallClock: { [time] in time.now }, uptime: { [time] in time.now },
                sleep: { [time] in try await time.sleep($0) }, random: { 0 },
                transport: transport, store: store,
                journal: { folder, log throws(NuxieError) in
                    if let journal { return journal }
                    return try FileJournal(folder: folder, log: log)
                }))
        made.withLock { $0.append(sdk) }
        return sdk
    }
}

extension NuxieSDK {
    /// Waits until a snapshot is as wanted, and returns it.
    @discardableResult
    func until(_ isWanted: (FeatureSnapshot) -> Bool) async -> FeatureSnapshot {
        let snapshots = await MainActor.run { features.snapshots }
        for await snapshot in snapshots where isWanted(snapshot) { return snapshot }
        return await MainActor.run { features.snapshot }
    }
}

/// A network that answers as the test says.
final class FakeTransport: Transport {
    struct Sent: Sendable {
        let path: String
        let json: JSONValue
        let headers: [String: String]
    }

    typealias Answers = @Sendable (Sent) async throws -> TransportAnswer

    private let answers: Answers
    /// What was sent, in order.
    let sent = TestSignal<Sent>()

    init(_ answers: @escaping Answers) { self.answers = answers }

    func post(_ request: TransportRequest) async throws -> TransportAnswer {
        let json = try JSONParser.parse(request.body)
        let sent = Sent(path: String(request.path), json: json, headers: request.headers)
        self.sent.send(sent)
        return try await answers(sent)
    }

    func bodies(_ path: String) -> [JSONValue] {
        sent.values.filter { $0.path == path }.map(\.json)
    }

    /// Waits until so many requests were sent to a path.
    func wait(for count: Int, at path: String) async -> [JSONValue] {
        while true {
            let total = sent.values.count
            if bodies(path).count >= count { break }
            _ = await sent.wait(for: total + 1)
        }
        return bodies(path)
    }
}

extension TransportAnswer {
    static func json(
        _ status: Int = 200, _ json: JSONValue, headers: [String: String] = [:]
    ) -> TransportAnswer {
        TransportAnswer(status: status, headers: headers, body: json.bytes)
    }

    static func profile(_ features: [JSONValue], products: [JSONValue] = []) -> TransportAnswer {
        .json(200, ["features": .array(features), "products": .array(products)])
    }

    static let lost = TransportFailure(description: "the connection was cut")

    /// A receipt for a request to `/feature/consume`.
    static func receipt(
        _ request: JSONValue, accepted: Bool = true, balance: Int, isReplay: Bool = false,
        at moment: Int64 = 1
    ) -> TransportAnswer {
        var json = JSONObject()
        for name in ["customerId", "featureId", "operationId", "quantity", "entityId"] {
            if let value = request[name] { json[name] = value }
        }
        json["accepted"] = .bool(accepted)
        json["code"] = accepted ? "consumed" : "insufficient"
        json["balance"] = .integer(balance)
        json["unlimited"] = false
        json["active"] = .bool(balance > 0)
        json["type"] = "metered"
        json["occurredAtMs"] = .integer(moment)
        json["idempotentReplay"] = .bool(isReplay)
        return .json(200, .object(json))
    }
}

func item(_ id: String, balance: Int) -> JSONValue {
    [
        "id": .string(id), "type": "metered", "allowed": .bool(balance > 0), "unlimited": false,
        "balance": .integer(balance),
    ]
}

let premium: JSONValue = [
    "id": "premium", "type": "boolean", "allowed": true, "unlimited": false, "balance": nil,
]

/// Clocks that stand until they are moved.
final class ManualTime: Sendable {
    private struct State {
        var now: Int64 = 1_789_285_000_000
        var last = 0
        var sleepers: [Int: (due: Int64, continuation: CheckedContinuation<Void, any Error>)] = [:]
    }

    private let state = Guarded(State())
    /// How long each sleeper wants to sleep, as it lies down.
    let asleep = TestSignal<Int64>()

    var now: Int64 { state.withLock { $0.now } }

    func sleep(_ milliseconds: Int64) async throws {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                let isOver = state.withLock { state in
                    if Task.isCancelled || milliseconds <= 0 { return true }
                    state.sleepers[number] = (state.now + milliseconds, continuation)
                    return false
                }
                if isOver {
                    Task.isCancelled
                        ? continuation.resume(throwing: CancellationError()) : continuation.resume()
                } else {
                    asleep.send(milliseconds)
                }
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: number) }?.continuation
                .resume(throwing: CancellationError())
        }
    }

    func advance(_ milliseconds: Int64) {
        let due = state.withLock { state in
            state.now += milliseconds
            let due = state.sleepers.filter { $0.value.due <= state.now }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }
}

/// A store that sells what the test says.
final class FakeStore: PurchaseStore {
    private let stream = AsyncStream.makeStream(of: StoreTransaction.self)
    let checkouts = Guarded<[StoreCheckout]>([])
    let held = Guarded<[StoreTransaction]>([])
    let finished = TestSignal<String>()
    let queries = Guarded(0)

    func updates() -> AsyncStream<StoreTransaction> { stream.stream }
    func tell(_ transaction: StoreTransaction) { stream.continuation.yield(transaction) }

    func current() async -> [StoreTransaction] {
        queries.withLock { $0 += 1 }
        return held.withLock { $0 }
    }

    func purchase(_ storeProductId: String) async -> StoreCheckout {
        checkouts.withLock { $0.isEmpty ? .cancelled : $0.removeFirst() }
    }

    func restore() async throws {}
    func finish(_ transaction: String) async { finished.send(transaction) }
}

extension StoreTransaction {
    /// A transaction as the store hands it out; signed as the App Store signs.
    static func bought(
        _ id: String, _ product: String, at milliseconds: Int64 = 1_789_285_000_000,
        isRevoked: Bool = false
    ) -> StoreTransaction {
        StoreTransaction(
            id: id, original: id, product: product,
            signed: AppStoreSigner.shared.transaction(id, product: product, at: milliseconds),
            isRevoked: isRevoked)
    }
}

extension FileJournal {
    /// Puts a journal's bytes into a folder, as a crash leaves them.
    static func place(_ bytes: [UInt8], in folder: String) throws {
        let journal = try FileJournal(
            folder: folder, log: SDKLog(level: .none, handler: { _, _ in }))
        for line in bytes.split(separator: 0x0a) {
            if let record = JournalRecord(line: line) { try journal.append(record) }
        }
        journal.close()
    }
}
