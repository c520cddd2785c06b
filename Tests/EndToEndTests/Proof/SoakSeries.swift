/// Numbers taken one after the other at even distances, and whether they stay where they are.
struct SoakSeries: Sendable {
    private(set) var values: [Double] = []
    /// How much may be added by chance.
    let slack: Double

    init(slack: Double, _ values: [Double] = []) {
        self.slack = slack
        self.values = values
    }

    mutating func append(_ value: Double) { values.append(value) }

    /// The middle of a third's values, from 0 to 2; the first is for warming up.
    func median(ofThird third: Int) -> Double {
        let part = values[(values.count * third / 3)..<(values.count * (third + 1) / 3)].sorted()
        return part.isEmpty ? 0 : part[part.count / 2]
    }

    /// By least squares over the last two thirds: how much is added from one value to the next.
    var slope: Double {
        let part = Array(values[(values.count / 3)...])
        guard part.count > 1 else { return 0 }
        let middle = Double(part.count - 1) / 2
        let mean = part.reduce(0, +) / Double(part.count)
        var above = 0.0
        var below = 0.0
        for (place, value) in part.enumerated() {
            let distance = Double(place) - middle
            above += distance * (value - mean)
            below += distance * distance
        }
        return above / below
    }

    /// The last third's median lies no more than a tenth and the slack above the middle third's.
    var isFlat: Bool { median(ofThird: 2) <= median(ofThird: 1) * 1.1 + slack }
}
