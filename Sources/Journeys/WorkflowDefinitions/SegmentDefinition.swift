package import JourneyModel

/// A named set of customers: those for whom a condition is *true*.
package struct SegmentDefinition: Sendable, Hashable {
    package var id: SegmentID
    package var name: String?
    /// Over `/customer`, `subscription`, `/features` and event history.
    package var condition: Condition

    package init(id: SegmentID, name: String? = nil, condition: Condition) {
        self.id = id
        self.name = name
        self.condition = condition
    }
}

/// A segment with the form it is published in. It is published beside the workflows that name it: its
/// membership is a fact of the customer, and history keeps what a run read of it.
package struct PublishedSegment: Sendable, Hashable {
    package let definition: SegmentDefinition
    /// RFC 8785 canonical JSON with every default written out.
    package let canonical: [UInt8]
    /// Lowercase hex SHA-256 of ``canonical``.
    package let digest: String

    package init(definition: SegmentDefinition, canonical: [UInt8], digest: String) {
        self.definition = definition
        self.canonical = canonical
        self.digest = digest
    }
}
