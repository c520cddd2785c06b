import Glibc
import JSON
import Locks
import Reactor
import TestMaterial
import TestModel
import TestSupport
import Testing

/// Several workers of mixed roles that die at fail points and are started again, until each point has
/// killed often enough.
final class ProofFleet: Sendable {
    /// A place to die at, and who comes by there.
    struct Point: Sendable, Hashable {
        let name: String
        let role: String
        /// Which passing kills, at most, in the short form.
        let most: Int
    }

    static let points = [
        Point(name: "ingest.stored", role: "ingest", most: 12),
        Point(name: "postgres.sent.delivery_store", role: "ingest", most: 8),
        Point(name: "route.written", role: "worker", most: 3),
        Point(name: "turn.locked", role: "worker", most: 8),
        Point(name: "turn.loaded", role: "worker", most: 8),
        Point(name: "turn.decided", role: "worker", most: 8),
        Point(name: "postgres.sent.turn_take_inputs", role: "worker", most: 8),
        Point(name: "turn.committed", role: "worker", most: 8),
        Point(name: "postgres.sent.effect_lease", role: "dispatch", most: 5),
        Point(name: "dispatch.leased", role: "dispatch", most: 8),
        Point(name: "dispatch.answered", role: "dispatch", most: 8),
        Point(name: "postgres.sent.effect_finish", role: "dispatch", most: 8),
        Point(name: "dispatch.stored", role: "dispatch", most: 8),
    ]

    private static let members: [(name: String, roles: String)] = [
        ("all", "ingest,worker,dispatch"), ("door", "ingest,worker"),
        ("hand", "worker,dispatch"), ("post", "dispatch,ingest"),
    ]

    private struct Member {
        let name: String
        let roles: String
        var process: Process?
        var point: Point?
        /// Once it is ready.
        var port: UInt16?
        /// Whether it was told to freeze.
        var freezes = false
        /// A frozen one goes on at this time.
        var thaws: ContinuousClock.Instant?
        /// One that was frozen has shown by then what it does with stale leases and locks, and ends.
        var retires: ContinuousClock.Instant?
    }

    private struct State {
        var members: [Member]
        var kills: [String: Int] = [:]
        var freezes = 0
        var isArmed = true
        var generator: SeededGenerator
        var failures: [String] = []
        /// Points that are to freeze a process once.
        var freezing: [Point]
    }

    private let folder: String
    private let configuration: String
    private let scale: ProofScale
    private let state: Guarded<State>

    init(folder: String, configuration: String, scale: ProofScale) {
        self.folder = folder
        self.configuration = configuration
        self.scale = scale
        let frozen = ["turn.decided", "turn.loaded", "dispatch.leased", "dispatch.answered"]
        state = Guarded(
            State(
                members: Self.members.map { Member(name: $0.name, roles: $0.roles) },
                generator: SeededGenerator(seed: scale.seed &+ 7),
                freezing: scale.freezes
                    > 0 ? Self.points.filter { frozen.contains($0.name) } : []))
    }

    /// SIGKILLs so far, by point.
    var kills: [String: Int] { state.withLock { $0.kills } }
    /// Processes that were frozen for longer than a lease.
    var freezes: Int { state.withLock { $0.freezes } }
    /// Processes that ended otherwise than ordered.
    var failures: [String] { state.withLock { $0.failures } }

    /// From 0 to 1.
    var share: Double {
        let done = Self.points.reduce(0) { $0 + min(kills[$1.name] ?? 0, scale.kills) }
        return Double(done) / Double(Self.points.count * scale.kills)
    }

    /// A living member's ingest port.
    func port() -> UInt16? {
        state.withLock { state in
            var ports: [UInt16] = []
            for member in state.members where member.roles.contains("ingest") {
                guard member.thaws == nil, member.process?.code == nil, let port = member.port
                else { continue }
                ports.append(port)
            }
            return ports.randomElement(using: &state.generator)
        }
    }

    /// Starts what is not running, and counts what died; to be called again and again.
    func tend() throws {
        try state.withLock { state in
            for place in state.members.indices {
                var member = state.members[place]
                try tend(&member, &state)
                state.members[place] = member
            }
        }
    }

    private func tend(_ member: inout Member, _ state: inout State) throws {
        if let process = member.process {
            if let thaws = member.thaws {
                guard ContinuousClock.now >= thaws else { return }
                member.thaws = nil
                member.retires = .now + .seconds(6)
                process.signal(SIGCONT)
                return
            }
            if process.isStopped {
                // Longer than the lease of an attempt of one second.
                member.thaws = .now + .seconds(36)
                state.freezes += 1
                return
            }
            if let retires = member.retires, ContinuousClock.now >= retires {
                member.retires = nil
                member.process = nil
                return
            }
            guard let code = process.code else {
                if member.port == nil { member.port = process.port("ingest_port") }
                return
            }
            if code == -SIGKILL, let point = member.point {
                state.kills[point.name, default: 0] += 1
            } else {
                state.failures.append(
                    "\(member.name) ended with \(code): \(process.errors.suffix(2_000))")
            }
            Secrets.expectNone(in: process.errors.split(separator: "\n").map(String.init))
        }
        try start(&member, &state)
    }

    private func start(_ member: inout Member, _ state: inout State) throws {
        member.port = nil
        var environment = ["PROOF_TURN_JOURNAL": "1"]
        member.point = nil
        member.freezes = false
        if state.isArmed {
            // One at a time: the others go on, and take over what it holds.
            let isAnybodyFrozen = state.members.contains { $0.freezes || $0.thaws != nil }
            if !isAnybodyFrozen,
                let place = state.freezing.firstIndex(where: { member.roles.contains($0.role) })
            {
                let point = state.freezing.remove(at: place)
                environment["PROOF_FAIL_POINT"] = "\(point.name):3:pause"
                member.freezes = true
            } else if let point = nextPoint(for: member, &state) {
                let nth = Int.random(in: 1...point.most * scale.stretch, using: &state.generator)
                environment["PROOF_FAIL_POINT"] = "\(point.name):\(nth)"
                member.point = point
            }
        }
        member.process = try Process(
            ["serve", "--config", configuration, "--role", member.roles], in: folder,
            name: member.name, environment: environment)
    }

    /// The one that has killed the least so far and waits for nobody.
    private func nextPoint(for member: Member, _ state: inout State) -> Point? {
        let waited = Set(
            state.members.filter { $0.name != member.name && $0.process?.code == nil }
                .compactMap(\.point))
        let open = Self.points.filter { point in
            let kills = state.kills[point.name] ?? 0
            return member.roles.contains(point.role) && kills < scale.kills
                && (!waited.contains(point) || kills + 1 < scale.kills)
        }
        let fewest = open.map { state.kills[$0.name] ?? 0 }.min()
        return open.filter { state.kills[$0.name] ?? 0 == fewest }
            .randomElement(using: &state.generator)
    }

    /// No process dies by itself any more: those that would are ended, and start unarmed.
    func disarm() {
        state.withLock { state in
            state.isArmed = false
            for place in state.members.indices
            where state.members[place].point != nil || state.members[place].freezes {
                state.members[place].process?.signal(SIGKILL)
                // Not a kill at a fail point: started again without being counted.
                state.members[place].process = nil
                state.members[place].port = nil
                state.members[place].thaws = nil
                state.members[place].freezes = false
                state.members[place].point = nil
            }
        }
    }

    /// Ends all of them in order; returns the exit codes.
    func drain(_ world: World) async throws -> [Int32] {
        let processes = state.withLock { $0.members.compactMap(\.process) }
        for process in processes { process.signal(SIGTERM) }
        try await world.until("the workers drain", within: .seconds(60)) {
            processes.allSatisfy { $0.code != nil }
        }
        for process in processes {
            Secrets.expectNone(in: process.errors.split(separator: "\n").map(String.init))
        }
        return processes.compactMap(\.code)
    }

    /// The last lines of each member's log, for a failure.
    var logs: String {
        state.withLock { state in
            state.members.map { "== \($0.name)\n\($0.process?.errors.suffix(3_000) ?? "")" }
                .joined(separator: "\n")
        }
    }
}
