internal import EffectDispatch
internal import Glibc
internal import JourneyStorage
internal import Locks
internal import Postgres
internal import Reactor
internal import Settings
internal import Telemetry
internal import TimeZones

/// Tells the database every few seconds that this process is there, what it serves and how it stands: so
/// that who asks why a run does not move is told that nobody works, or who does.
final class ProcessBeat: Sendable {
    private let process: WorkerProcess
    private let dispatcher: Dispatcher
    private let store: ProcessStore
    private let loop: EventLoop
    private let log: Log
    private let clock: @Sendable () -> Instant
    private let state = Guarded(State())

    private struct State {
        var turnAt: Instant?
        var turnTrouble: String?
    }

    init(
        roles: WorkerService.Roles, settings: WorkerSettings, holdsEffects: Bool,
        dispatcher: Dispatcher, store: ProcessStore, loop: EventLoop, log: Log,
        clock: @escaping @Sendable () -> Instant
    ) {
        let host = Self.hostName
        process = WorkerProcess(
            id: "\(host)-\(getpid())-\(String(UInt32.random(in: .min ... .max), radix: 16))",
            host: host, roles: roles.told, holdsEffects: holdsEffects,
            dispatchConcurrency: settings.dispatch.concurrency,
            accounts: roles.contains(.dispatch)
                ? dispatcher.served.map { WorkerProcess.Account($0) }.sorted {
                    ($0.tool, $0.name) < ($1.tool, $1.name)
                } : [])
        self.dispatcher = dispatcher
        self.store = store
        self.loop = loop
        self.log = log
        self.clock = clock
    }

    func noteTurn() {
        let now = clock()
        state.withLock { $0.turnAt = now }
    }

    /// - Parameter trouble: what keeps the process from taking turns; nil once nothing does.
    func noteTrouble(_ trouble: String?) { state.withLock { $0.turnTrouble = trouble } }

    /// Until the task is cancelled. Where the database is out of reach nobody can be told: others notice
    /// the silence.
    func run() async {
        while !Task.isCancelled {
            var told = process
            (told.turnAt, told.turnTrouble) = state.withLock { ($0.turnAt, $0.turnTrouble) }
            told.dispatchTrouble = dispatcher.trouble
            do throws(PostgresError) {
                try await store.tell(told)
            } catch {
                log.debug(
                    "the process could not tell of itself", ["reason": .text("\(error)")])
            }
            do { try await loop.sleep(for: ProcessStore.pause) } catch { return }
        }
    }

    /// Says that the process stops.
    func end() async {
        do throws(PostgresError) {
            try await store.end(process.id)
        } catch {
            log.debug("the process could not say that it ends", ["reason": .text("\(error)")])
        }
    }

    private static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "unknown" }
        return String(
            decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension WorkerService.Roles {
    fileprivate var told: Set<WorkerProcess.Role> {
        var told: Set<WorkerProcess.Role> = []
        if contains(.ingest) { told.insert(.ingest) }
        if contains(.worker) { told.insert(.worker) }
        if contains(.dispatch) { told.insert(.dispatch) }
        return told
    }
}

extension WorkerProcess.Account {
    fileprivate init(_ capacity: EffectCapacity) {
        self.init(
            tool: capacity.tool, name: capacity.account ?? "",
            concurrency: capacity.limits?.concurrency,
            ratePerSecond: capacity.limits?.ratePerSecond)
    }
}
