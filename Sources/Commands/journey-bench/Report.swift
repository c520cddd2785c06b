internal import CommandLine
internal import JSON
internal import TimeZones

/// The numbers with the conditions they hold under.
struct Report: Sendable {
    static let caution =
        "Only the ratios of one report can be compared: absolute numbers depend on the machine, "
        + "its disk and what else runs on it, and the load generator shares the cores with the "
        + "product."

    let options: BenchOptions
    let conditions: Conditions
    var outcomes: [Outcome] = []

    init(options: BenchOptions, conditions: Conditions) {
        self.options = options
        self.conditions = conditions
    }

    // MARK: For people

    var text: String {
        var table = Table(
            columns: [
                .init("MEASURE", key: "measure"),
                .init("CONNECTIONS", key: "connections", alignment: .right),
                .init("FLOOR", key: "floor"),
                .init("FLOOR/S", key: "floor_per_second", alignment: .right),
                .init("PRODUCT/S", key: "product_per_second", alignment: .right),
                .init("RATIO", key: "ratio", alignment: .right),
                .init("P50 MS", key: "p50_ms", alignment: .right),
                .init("P99 MS", key: "p99_ms", alignment: .right),
                .init("RUNS", key: "runs", alignment: .right),
                .init("SPREAD", key: "spread", alignment: .right),
            ], idKey: "measure")
        table.rows = outcomes.map(row)
        let more = outcomes.map { outcome in
            "\(outcome.measure.rawValue)\(outcome.connections.map { " \($0)" } ?? ""), "
                + "\(outcome.floor): "
                + outcome.figures.map { "\($0) \(fixed($1, 0))" }.joined(separator: ", ") + "\n"
        }.joined()
        let warning =
            conditions.isInMemory
            ? "The folder is held in memory: nothing here was durable, so no number counts.\n" : ""
        return table.text(.table) + "\n" + more + warning + conditions.sentence(options)
            + Self.caution + (options.isQuick ? " A quick run measures nothing." : "") + "\n"
    }

    // MARK: For programs

    var json: JSONValue {
        .object(
            JSONObject([
                ("program", .string("journey-bench \(BenchProgram.version)")),
                ("commit", options.commit.map { .string($0) } ?? .null),
                ("date", .string(conditions.date.description)),
                ("quick", .bool(options.isQuick)), ("caution", .string(Self.caution)),
                ("conditions", conditions.json(options)),
                ("measures", .array(outcomes.map(row))),
            ]))
    }

    private func row(_ outcome: Outcome) -> JSONValue {
        var members: [(key: String, value: JSONValue)] = [
            ("measure", .string(outcome.measure.rawValue)),
            ("connections", outcome.connections.map { .integer($0) } ?? .null),
            ("floor", .string(outcome.floor)),
            ("floor_per_second", number(median(outcome.floorRates), 0)),
            ("product_per_second", number(median(outcome.productRates), 0)),
            ("ratio", number(median(outcome.ratios), 3)),
            ("p50_ms", number(outcome.p50, 3)), ("p99_ms", number(outcome.p99, 3)),
            ("runs", .integer(outcome.products.count)),
            ("spread", number(spread(outcome.productRates), 3)),
            ("floor_spread", number(spread(outcome.floorRates), 3)),
            ("ratios", .array(outcome.ratios.map { number($0, 3) })),
        ]
        for (name, value) in outcome.figures { members.append((name, number(value, 1))) }
        return .object(JSONObject(members))
    }
}

/// A number with this many decimals; null for nil and for what is no number.
func number(_ value: Double?, _ decimals: Int) -> JSONValue {
    value.flatMap { JSONNumber(literal: fixed($0, decimals)) }.map { .number($0) } ?? .null
}

/// Plain decimal text, rounded.
///
/// - Parameter decimals: 0 to 6.
func fixed(_ value: Double, _ decimals: Int) -> String {
    var scale = 1.0
    for _ in 0..<decimals { scale *= 10 }
    let scaled = (value * scale).rounded()
    guard scaled.isFinite, abs(scaled) < 1e15 else { return "-" }
    let whole = Int64(scaled)
    if decimals == 0 { return "\(whole)" }
    let digits = String(whole.magnitude)
    let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
    return (whole < 0 ? "-" : "") + padded.dropLast(decimals) + "." + padded.suffix(decimals)
}
