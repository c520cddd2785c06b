internal import Configuration
internal import Glibc
internal import Postgres
internal import Reactor

/// Processor time by whom it was used, in seconds.
///
/// On a machine that others use too it says more than a rate: what an operation costs hardly depends on
/// how long it had to wait for its turn.
struct ProcessorTime: Sendable {
    /// The loop of the product and the floors.
    var product: Double
    /// The loop of the load generator.
    var load: Double
    /// All processes of the server, to a hundredth of a second.
    var postgres: Double

    static func read(_ world: BenchWorld) async throws -> ProcessorTime {
        let row = try await world.administration.query(
            SQLStatement("bench_backend", "select pg_backend_pid() as process")
        ).only()
        let server = fields(ofProcess: Int(try row.int32("process")))?.parent ?? 0
        let product = await world.loop.run { threadTime() }
        let load = await world.loadLoop.run { threadTime() }
        return ProcessorTime(product: product, load: load, postgres: familyTime(of: server))
    }

    /// Microseconds an operation, by the names that the report prints.
    func perOperation(since earlier: ProcessorTime, _ operations: Int) -> [String: Double] {
        let scale = 1_000_000 / Double(max(1, operations))
        return [
            "product_cpu_us": (product - earlier.product) * scale,
            "load_cpu_us": (load - earlier.load) * scale,
            "postgres_cpu_us": (postgres - earlier.postgres) * scale,
        ]
    }

    private static func threadTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Of a process and its children, those that have ended included.
    private static func familyTime(of process: Int) -> Double {
        guard let own = fields(ofProcess: process), let folder = opendir("/proc") else { return 0 }
        defer { closedir(folder) }
        var ticks = own.ticks + own.endedChildrenTicks
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let child = Int(name), let fields = fields(ofProcess: child),
                fields.parent == process
            else { continue }
            ticks += fields.ticks
        }
        return Double(ticks) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// What `/proc/PID/stat` says after the program's name, which may hold anything.
    private static func fields(
        ofProcess process: Int
    ) -> (parent: Int, ticks: Int, endedChildrenTicks: Int)? {
        guard let bytes = try? BoundedFile.read("/proc/\(process)/stat", limit: 4_096),
            let end = bytes.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        let words = String(decoding: bytes[(end + 1)...], as: UTF8.self).split(separator: " ")
        let numbers = words.map { Int($0) ?? 0 }
        guard numbers.count > 14 else { return nil }
        return (numbers[1], numbers[11] + numbers[12], numbers[13] + numbers[14])
    }
}

extension BenchWorld {
    /// Adds to a sample what its operations cost in processor time.
    func metered(_ body: () async throws -> Sample) async throws -> Sample {
        let before = try await ProcessorTime.read(self)
        var sample = try await body()
        let after = try await ProcessorTime.read(self)
        sample.figures.merge(after.perOperation(since: before, sample.operations)) { $1 }
        return sample
    }
}
