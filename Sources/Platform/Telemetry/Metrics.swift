internal import Locks

/// The metrics of one process, and their Prometheus text.
///
/// A metric is made once, where its numbers arise, and then counted from any thread: a lock and a
/// look-up. Names and labels are the program's own; a bad one is a wrong program and traps.
package final class Metrics: Sendable {
    /// The most series a metric keeps apart; further label values share one series, `other`.
    package static let seriesLimit = 1_000

    /// One value of a metric that is read when asked.
    package struct Reading: Sendable, Hashable {
        /// Values of the metric's labels, in their order.
        package let labels: [String]
        /// The number.
        package let value: Double

        /// A number with the values of its labels.
        package init(_ value: Double, labels: [String] = []) {
            self.labels = labels
            self.value = value
        }
    }

    private let families = Guarded<[any MetricFamily]>([])

    /// No metrics yet.
    package init() {}

    /// A number that only grows; its name ends in `_total`.
    package func counter(_ name: String, help: String, labels: [String] = []) -> Counter {
        register(Counter(MetricName(name, help: help, labels: labels)))
    }

    /// A number that is set.
    package func gauge(_ name: String, help: String, labels: [String] = []) -> Gauge {
        register(Gauge(MetricName(name, help: help, labels: labels)))
    }

    /// Numbers that are read whenever the text is made; `read` must be quick and may run on any
    /// thread. At most ``seriesLimit`` readings are shown.
    package func gauge(
        _ name: String, help: String, labels: [String] = [],
        read: @escaping @Sendable () -> [Reading]
    ) {
        let name = MetricName(name, help: help, labels: labels)
        _ = register(ReadGauge(name: name, read: read))
    }

    /// How measured values are spread.
    ///
    /// - Parameter buckets: upper bounds, rising; `+Inf` is added.
    package func histogram(
        _ name: String, help: String, labels: [String] = [],
        buckets: [Double] = Histogram.latencySeconds
    ) -> Histogram {
        register(Histogram(MetricName(name, help: help, labels: labels), buckets: buckets))
    }

    /// All metrics in Prometheus' text format 0.0.4, in the order they were made; the content type is
    /// `text/plain; version=0.0.4; charset=utf-8`.
    package func text() -> String {
        var out = ""
        for family in families.withLock({ $0 }) {
            out += family.name.head(family.type)
            family.write(into: &out)
        }
        return out
    }

    private func register<Family: MetricFamily>(_ family: Family) -> Family {
        families.withLock { families in
            precondition(
                !families.contains { $0.name.name == family.name.name },
                "the metric \(family.name.name) is made twice")
            families.append(family)
        }
        return family
    }
}

/// What the registry needs of each kind of metric.
protocol MetricFamily: Sendable {
    var name: MetricName { get }
    var type: String { get }
    func write(into out: inout String)
}

/// A metric's name, help and label names, checked.
struct MetricName: Sendable {
    let name: String
    let help: String
    let labels: [String]

    init(_ name: String, help: String, labels: [String]) {
        precondition(Self.isName(name), "\(name) is no name for a metric")
        precondition(
            labels.allSatisfy { Self.isName($0) && !$0.hasPrefix("__") && $0 != "le" },
            "a label of \(name) has a bad name")
        self.name = name
        self.help = help
        self.labels = labels
    }

    func head(_ type: String) -> String {
        "# HELP \(name) \(Self.escaped(help, quotes: false))\n# TYPE \(name) \(type)\n"
    }

    /// `name_suffix{label="value"} number`.
    func line(
        _ number: Double, labels values: [String], suffix: String = "",
        extra: (String, String)? = nil
    ) -> String {
        var pairs = zip(labels, values).map { "\($0)=\"\(Self.escaped($1, quotes: true))\"" }
        if let (key, value) = extra { pairs.append("\(key)=\"\(value)\"") }
        let braces = pairs.isEmpty ? "" : "{" + pairs.joined(separator: ",") + "}"
        return "\(name)\(suffix)\(braces) \(Self.text(number))\n"
    }

    /// A number as Prometheus reads it; whole ones without fraction.
    static func text(_ number: Double) -> String {
        if number.isNaN { return "NaN" }
        if number.isInfinite { return number < 0 ? "-Inf" : "+Inf" }
        if let whole = Int64(exactly: number) { return String(whole) }
        return number.description
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var out = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": out += "\\\\"
            case "\n": out += "\\n"
            case "\"" where quotes: out += "\\\""
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }

    private static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, !(48...57).contains(first) else { return false }
        return text.utf8.allSatisfy {
            (97...122).contains($0 | 0x20) || (48...57).contains($0) || $0 == UInt8(ascii: "_")
        }
    }
}
