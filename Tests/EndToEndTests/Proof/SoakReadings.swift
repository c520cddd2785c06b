import Postgres
import Testing

/// What a soak reads every few seconds, and the rules it is held to.
struct SoakReadings: Sendable {
    private static let megabyte = 1_048_576.0
    /// PostgreSQL looks at its tables once a minute, then takes its time.
    private static let vacuumPauses = 3.0 * 60
    /// What `autovacuum_vacuum_threshold` of the hot tables is at most, and default for the others.
    private static let threshold = 2_000.0
    /// The default of `autovacuum_vacuum_scale_factor`, which the queues set to less.
    private static let scaleFactor = 0.2

    private struct TableSeries: Sendable {
        var dead = SoakSeries(slack: 5_000)
        var live: [Double] = []
        var churn: [Double] = []
        var sizes: [Double] = []
    }

    private let names: [String]
    private var memory: [String: SoakSeries] = [:]
    private var tableSeries: [String: TableSeries] = [:]

    init(names: [String]) { self.names = names }

    /// Partitions are added up under their table's name; `churn` is how many rows were ever made dead.
    static let tables = SQLStatement(
        "soak_tables",
        """
        select coalesce(p.relname, s.relname)::text as relname,
            sum(n_dead_tup)::bigint as dead, sum(n_live_tup)::bigint as live,
            sum(n_tup_upd + n_tup_del)::bigint as churn,
            sum(pg_total_relation_size(s.relid))::bigint as size
        from pg_stat_user_tables s
        left join pg_inherits i on i.inhrelid = s.relid
        left join pg_class p on p.oid = i.inhparent
        where s.schemaname = 'journey' group by 1
        having sum(n_tup_upd + n_tup_del) > 0
        """)

    mutating func take(memory bytes: Int, of name: String) {
        memory[name, default: SoakSeries(slack: 8)].append(Double(bytes) / Self.megabyte)
    }

    mutating func take(table: String, dead: Int, live: Int, churn: Int, size: Int) {
        tableSeries[table, default: TableSeries()].dead.append(Double(dead))
        tableSeries[table]?.live.append(Double(live))
        tableSeries[table]?.churn.append(Double(churn))
        tableSeries[table]?.sizes.append(Double(size) / Self.megabyte)
    }

    /// The last memory of each process, in MB.
    var last: String {
        names.map { "\(Int(memory[$0]?.values.last ?? 0)) MB" }.joined(separator: ", ")
    }

    // MARK: Rules

    /// Dead rows of a table at most: what its share of live rows admits, and what is made dead while
    /// PostgreSQL looks at it three times.
    private static func most(_ series: TableSeries, at place: Int, pause: Duration) -> Double {
        let samples = max(1, Int(vacuumPauses / (pause / .seconds(1))))
        let before = place >= samples ? series.churn[place - samples] : 0
        return threshold + scaleFactor * series.live[place] + (series.churn[place] - before)
    }

    /// Memory of each process is flat, dead rows of each table are bounded.
    func judge(pause: Duration) {
        for name in names {
            guard let series = memory[name], series.values.count >= 6 else {
                Issue.record("\(name) was read too seldom")
                continue
            }
            #expect(series.isFlat, "\(name) grew: \(series.values.map { Int($0) })")
        }
        for (name, series) in tableSeries {
            for (place, dead) in series.dead.values.enumerated()
            where dead > Self.most(series, at: place, pause: pause) {
                Issue.record("\(name) held \(Int(dead)) dead rows at reading \(place)")
                break
            }
        }
    }

    /// The numbers, a line each.
    func lines(pause: Duration) -> [String] {
        var lines = names.map { name in
            let series = memory[name] ?? SoakSeries(slack: 0)
            let hourly = series.slope * (.seconds(3_600) / pause)
            return "memory of \(name): medians of thirds "
                + [0, 1, 2].map { "\(Self.tenths(series.median(ofThird: $0)))" }
                .joined(separator: ", ")
                + " MB, most \(Self.tenths(series.values.max() ?? 0)) MB, "
                + "\(Self.tenths(hourly)) MB an hour by least squares"
        }
        let tables = tableSeries.sorted { $0.value.churn.last ?? 0 > $1.value.churn.last ?? 0 }
        for (name, series) in tables.prefix(8) {
            lines.append(
                "\(name): \(Int(series.churn.last ?? 0)) rows made dead, at most "
                    + "\(Int(series.dead.values.max() ?? 0)) at once, medians of thirds "
                    + [0, 1, 2].map { "\(Int(series.dead.median(ofThird: $0)))" }
                    .joined(separator: ", ")
                    + "; \(Int(series.live.last ?? 0)) live, "
                    + "\(Self.tenths(series.sizes.last ?? 0)) MB")
        }
        return lines
    }

    private static func tenths(_ number: Double) -> Double { (number * 10).rounded() / 10 }
}
