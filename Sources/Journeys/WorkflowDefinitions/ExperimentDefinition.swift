package import JourneyModel

/// How customers are split (S14). It is copied into each workflow that uses it when that is published,
/// so that the workflow's digest covers it and a run replays with the weights it was decided by.
package struct ExperimentDefinition: Sendable, Hashable {
    /// One of the ways.
    package struct Variant: Sendable, Hashable {
        package var id: String
        /// Whole percents, 0 to 100; all together 100.
        package var weight: Int
        /// Whether it is the group that is left alone, for comparison.
        package var isHoldout: Bool

        package init(id: String, weight: Int, isHoldout: Bool = false) {
            self.id = id
            self.weight = weight
            self.isHoldout = isHoldout
        }
    }

    package var id: ExperimentID
    /// In the file's order, which decides who gets which.
    package var variants: [Variant]

    package init(id: ExperimentID, variants: [Variant]) {
        self.id = id
        self.variants = variants
    }
}
