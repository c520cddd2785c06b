internal import CommandLine
internal import JSON
internal import JourneyModel

extension CommandSpecification {
    static let vocabulary = CommandSpecification(
        name: "vocabulary", summary: "List the events that workflows may name, and what they mean",
        discussion: """
            These are the outcomes that every provider's webhooks are told in. Names of an app's own \
            events stand in events.json beside its workflows.
            """,
        examples: [
            Example("journey-replay vocabulary", "every name with its meaning"),
            Example("journey-replay vocabulary -o ids | grep trial", "the names alone"),
        ],
        options: [OutputFormat.option])
}

extension ReplayCall {
    func vocabulary() {
        printTable(
            Table(
                columns: [
                    Table.Column("NAME", key: "name"), Table.Column("MEANING", key: "meaning"),
                ],
                rows: Vocabulary.outcomes.map {
                    ["name": .string($0.name), "meaning": .string($0.meaning)]
                }, idKey: "name"))
    }
}
