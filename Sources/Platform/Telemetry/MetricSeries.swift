internal import Locks

/// The series of one metric by their label values, bounded.
final class MetricSeries<Cell: Sendable>: Sendable {
    private let cells: Guarded<[[String]: Cell]>
    private let name: MetricName
    private let fresh: Cell

    /// A metric without labels has its one series from the start, so that it shows 0.
    init(_ name: MetricName, fresh: Cell) {
        self.name = name
        self.fresh = fresh
        cells = Guarded(name.labels.isEmpty ? [[]: fresh] : [:])
    }

    func update(_ labels: [String], _ change: (inout Cell) -> Void) {
        precondition(labels.count == name.labels.count, "\(name.name) has other labels")
        cells.withLock { cells in
            var key = labels
            if cells[key] == nil, cells.count >= Metrics.seriesLimit {
                key = name.labels.map { _ in "other" }
            }
            var cell = cells[key] ?? fresh
            change(&cell)
            cells[key] = cell
        }
    }

    func remove(_ labels: [String]) {
        cells.withLock { $0[labels] = nil }
    }

    func cell(_ labels: [String]) -> Cell? { cells.withLock { $0[labels] } }

    /// By label values, so that two texts of the same numbers are the same.
    var inOrder: [(labels: [String], cell: Cell)] {
        cells.withLock { $0 }.sorted { $0.key.lexicographicallyPrecedes($1.key) }
            .map { ($0.key, $0.value) }
    }
}

/// A number that only grows.
package final class Counter: MetricFamily {
    let name: MetricName
    let type = "counter"
    private let series: MetricSeries<Double>

    init(_ name: MetricName) {
        self.name = name
        series = MetricSeries(name, fresh: 0)
    }

    /// Adds to the series with these label values, given in the order of the labels.
    ///
    /// - Parameter amount: 0 or more; less is a wrong program.
    package func add(_ amount: Double = 1, labels: [String] = []) {
        precondition(amount >= 0, "the counter \(name.name) was to shrink")
        series.update(labels) { $0 += amount }
    }

    /// What the series stands at, 0 when it has never been added to.
    package func value(labels: [String] = []) -> Double { series.cell(labels) ?? 0 }

    func write(into out: inout String) {
        for (labels, cell) in series.inOrder { out += name.line(cell, labels: labels) }
    }
}

/// A number that is set.
package final class Gauge: MetricFamily {
    let name: MetricName
    let type = "gauge"
    private let series: MetricSeries<Double>

    init(_ name: MetricName) {
        self.name = name
        series = MetricSeries(name, fresh: 0)
    }

    /// Sets the series with these label values.
    package func set(_ value: Double, labels: [String] = []) {
        series.update(labels) { $0 = value }
    }

    /// Adds to the series; a negative amount takes away.
    package func add(_ amount: Double, labels: [String] = []) {
        series.update(labels) { $0 += amount }
    }

    /// Forgets the series, so that it is no longer shown.
    package func remove(labels: [String]) { series.remove(labels) }

    /// What the series stands at, 0 when it was never set.
    package func value(labels: [String] = []) -> Double { series.cell(labels) ?? 0 }

    func write(into out: inout String) {
        for (labels, cell) in series.inOrder { out += name.line(cell, labels: labels) }
    }
}

/// Numbers that are read when the text is made.
final class ReadGauge: MetricFamily {
    let name: MetricName
    let type = "gauge"
    private let read: @Sendable () -> [Metrics.Reading]

    init(name: MetricName, read: @escaping @Sendable () -> [Metrics.Reading]) {
        self.name = name
        self.read = read
    }

    func write(into out: inout String) {
        for reading in read().prefix(Metrics.seriesLimit) {
            precondition(reading.labels.count == name.labels.count, "\(name.name) has other labels")
            out += name.line(reading.value, labels: reading.labels)
        }
    }
}

/// How measured values are spread over fixed buckets.
package final class Histogram: MetricFamily {
    struct Cell: Sendable {
        var counts: [UInt64]
        var sum = 0.0
    }

    let name: MetricName
    let type = "histogram"
    private let bounds: [Double]
    private let series: MetricSeries<Cell>

    /// Seconds from a millisecond to ten: what most latencies lie in.
    package static let latencySeconds = [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]

    init(_ name: MetricName, buckets: [Double]) {
        precondition(
            !buckets.isEmpty && buckets.allSatisfy(\.isFinite)
                && zip(buckets, buckets.dropFirst()).allSatisfy(<),
            "the buckets of \(name.name) do not rise")
        self.name = name
        bounds = buckets
        series = MetricSeries(
            name, fresh: Cell(counts: [UInt64](repeating: 0, count: buckets.count + 1)))
    }

    /// Notes a value in the series with these label values; NaN is left out.
    package func observe(_ value: Double, labels: [String] = []) {
        guard !value.isNaN else { return }
        let place = bounds.firstIndex { value <= $0 } ?? bounds.count
        series.update(labels) { cell in
            cell.counts[place] += 1
            cell.sum += value
        }
    }

    /// Notes a length of time in seconds.
    package func observe(_ duration: Duration, labels: [String] = []) {
        let (seconds, attoseconds) = duration.components
        observe(Double(seconds) + Double(attoseconds) / 1e18, labels: labels)
    }

    /// How many values the series has taken.
    package func count(labels: [String] = []) -> UInt64 {
        series.cell(labels)?.counts.reduce(0, +) ?? 0
    }

    func write(into out: inout String) {
        for (labels, cell) in series.inOrder {
            var sum: UInt64 = 0
            for (index, count) in cell.counts.enumerated() {
                sum += count
                let bound = index < bounds.count ? MetricName.text(bounds[index]) : "+Inf"
                out += name.line(
                    Double(sum), labels: labels, suffix: "_bucket", extra: ("le", bound))
            }
            out += name.line(cell.sum, labels: labels, suffix: "_sum")
            out += name.line(Double(sum), labels: labels, suffix: "_count")
        }
    }
}
