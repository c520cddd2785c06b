/// What one timed run did.
struct Sample: Sendable {
    var operations: Int
    var seconds: Double
    /// Microseconds of each answer; empty where single answers mean nothing.
    var latencies: [UInt32] = []
    /// What else the run saw, by the names that the report prints.
    var figures: [String: Double] = [:]

    var perSecond: Double { seconds > 0 ? Double(operations) / seconds : 0 }

    /// The latency, in milliseconds, that this share of the answers did not exceed; nil without any.
    ///
    /// - Parameter share: 0 to 1.
    func latency(_ share: Double) -> Double? {
        guard !latencies.isEmpty else { return nil }
        let sorted = latencies.sorted()
        let place = min(sorted.count - 1, Int((Double(sorted.count) * share).rounded(.up)) - 1)
        return Double(sorted[max(0, place)]) / 1_000
    }
}

/// Something that can be run for a time: a floor, or the product.
struct Contender: Sendable {
    let name: String
    let run: @Sendable (Duration) async throws -> Sample
}

/// One row of the report: the product beside the floors it is held against.
struct Comparison: Sendable {
    let measure: BenchOptions.Measure
    /// Senders, where the measure has any.
    let connections: Int?
    let floors: [Contender]
    let product: Contender
}

/// The runs of one comparison with one of its floors.
struct Outcome: Sendable {
    let measure: BenchOptions.Measure
    let connections: Int?
    let floor: String
    let floors: [Sample]
    let products: [Sample]

    var floorRates: [Double] { floors.map(\.perSecond) }
    var productRates: [Double] { products.map(\.perSecond) }
    /// Each from a floor and a product that ran one after the other.
    var ratios: [Double] { zip(productRates, floorRates).map { $1 > 0 ? $0 / $1 : 0 } }
    var p50: Double? { median(products.compactMap { $0.latency(0.5) }) }
    var p99: Double? { median(products.compactMap { $0.latency(0.99) }) }
    /// Medians of what else the runs saw, the floor's processor time included.
    var figures: [(name: String, value: Double)] {
        let ofProduct = (products.first?.figures.keys.sorted() ?? []).map { name in
            (name, median(products.compactMap { $0.figures[name] }) ?? 0)
        }
        let name = "postgres_cpu_us"
        return ofProduct + [("floor_" + name, median(floors.compactMap { $0.figures[name] }) ?? 0)]
    }
}

func median(_ values: [Double]) -> Double? {
    guard !values.isEmpty else { return nil }
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/// The distance between the least and the greatest, as a share of the median.
func spread(_ values: [Double]) -> Double {
    guard let least = values.min(), let most = values.max(), let middle = median(values),
        middle > 0
    else { return 0 }
    return (most - least) / middle
}
