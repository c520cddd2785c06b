package import JourneyModel

/// Two records that are one person, and the input that says so.
package struct RecordPair: Sendable, Hashable {
    package var one: CustomerID
    package var other: CustomerID
    /// The inbox row's number; nil when nobody waits for the merge.
    package var input: Int64?

    package init(one: CustomerID, other: CustomerID, input: Int64? = nil) {
        self.one = one
        self.other = other
        self.input = input
    }
}
