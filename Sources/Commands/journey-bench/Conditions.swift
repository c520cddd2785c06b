internal import Configuration
internal import Glibc
internal import JSON
internal import Postgres
internal import PrivateCluster
internal import TimeZones

/// Under what the numbers were measured.
struct Conditions: Sendable {
    let cores: Int
    /// The load of the machine, over one minute, when it began.
    let load: Double
    let date: Instant
    /// Whether the database's folder lies in memory, so that nothing is durable.
    let isInMemory: Bool
    /// PostgreSQL's version and the settings that decide what durable means.
    let settings: [(name: String, value: String)]

    static func read(_ world: BenchWorld) async throws -> Conditions {
        var loads = [0.0]
        getloadavg(&loads, 1)
        let rows = try await world.administration.query(
            SQLStatement(
                "bench_settings",
                """
                select name, current_setting(name) as value
                from pg_settings
                where name in (
                    'server_version', 'fsync', 'synchronous_commit', 'full_page_writes',
                    'wal_sync_method', 'shared_buffers', 'max_wal_size'
                )
                order by name
                """))
        var settings: [(name: String, value: String)] = []
        for row in rows { settings.append((try row.string("name"), try row.string("value"))) }
        return Conditions(
            cores: Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))), load: loads[0], date: systemClock(),
            isInMemory: fileSystem(of: world.cluster.home) == "tmpfs", settings: settings)
    }

    /// The kind of the mount that holds a path, such as `ext4`; nil when it cannot be read.
    private static func fileSystem(of path: String) -> String? {
        guard let bytes = try? BoundedFile.read("/proc/self/mounts", limit: 1_048_576) else {
            return nil
        }
        var found: (place: Substring, kind: Substring)?
        // One line a mount: device, place, kind, options.
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count > 2 else { continue }
            let (place, kind) = (words[1], words[2])
            let holds = place == "/" || path == place || path.hasPrefix(place + "/")
            if holds, place.utf8.count >= found?.place.utf8.count ?? 0 { found = (place, kind) }
        }
        return found.map { String($0.kind) }
    }

    func json(_ options: BenchOptions) -> JSONValue {
        let database = JSONObject(settings.map { ($0.name, .string($0.value)) })
        return [
            "cores": .integer(cores), "load_before": number(load, 2),
            "in_memory": .bool(isInMemory), "postgresql": .object(database),
            "seconds": number(options.duration / .seconds(1), 2),
            "warm_up_seconds": number(options.warmUp / .seconds(1), 2),
            "runs": .integer(options.runs),
            "connections": .array(options.connections.map { .integer($0) }),
            "body_bytes": .integer(WebhookTemplate.bodyBytes),
            "turn_deliveries": .integer(options.deliveries),
            "turn_customers": .integer(options.customers),
        ]
    }

    func sentence(_ options: BenchOptions) -> String {
        let held = settings.map { "\($0.name) \($0.value)" }.joined(separator: ", ")
        return """
            \(cores) cores, load \(fixed(load, 2)) before; PostgreSQL: \(held).
            Bodies of \(WebhookTemplate.bodyBytes) bytes; runs of \
            \(fixed(options.duration / .seconds(1), 2)) s in turn after a warm-up of \
            \(fixed(options.warmUp / .seconds(1), 2)) s; turns: \(options.deliveries) deliveries \
            of \(options.customers) customers. Ratio, p50 and p99 are medians of the runs; spread \
            is (most - least) / median of the product.

            """
    }
}

/// The system's clock, for times that leave the process.
@Sendable func systemClock() -> Instant {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Instant(milliseconds: Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000)
}
