/// SplitMix64: the same seed gives the same numbers on every machine, so that a printed seed brings a
/// failure back.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A whole number of a range that is not empty.
    package mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &self) }

    /// True in so many of a hundred cases.
    package mutating func chance(_ percent: Int) -> Bool { number(0..<100) < percent }

    /// One of `choices`, which are not empty.
    package mutating func pick<Element>(_ choices: [Element]) -> Element {
        choices[number(0..<choices.count)]
    }
}
