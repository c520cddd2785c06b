package import JSON

/// What a decision read of the facts, in order and each thing once (S19).
package struct Reads: Sendable, Hashable {
    /// A pointer under `/customer`, `/subscription` or `/features` with what stood there.
    package struct Pointed: Sendable, Hashable {
        package let pointer: JSONPointer
        /// Nil for missing.
        package let value: JSONValue?
    }

    /// Anything else that was asked of the facts.
    package struct Question: Sendable, Hashable {
        package let ask: JSONValue
        package let answer: JSONValue
    }

    package private(set) var values: [Pointed] = []
    package private(set) var questions: [Question] = []
    /// What a recorded decision did not hold: pointers as texts, questions as they are.
    package private(set) var unrecorded: [JSONValue] = []
    private var known: Set<JSONPointer> = []
    private var asked: Set<String> = []

    package init() {}

    package var isEmpty: Bool { values.isEmpty && questions.isEmpty }

    mutating func note(_ pointer: JSONPointer, _ value: JSONValue?) {
        guard known.insert(pointer).inserted else { return }
        values.append(Pointed(pointer: pointer, value: value))
    }

    mutating func note(_ ask: JSONValue, answer: JSONValue) {
        guard asked.insert(RecordedReads.key(ask)).inserted else { return }
        questions.append(Question(ask: ask, answer: answer))
    }

    mutating func noteUnrecorded(_ thing: JSONValue) {
        if !unrecorded.contains(thing) { unrecorded.append(thing) }
    }

    /// Adds what another evaluation read; what is known already stays as it was read first.
    package mutating func merge(_ other: Reads) {
        for read in other.values { note(read.pointer, read.value) }
        for question in other.questions { note(question.ask, answer: question.answer) }
        for thing in other.unrecorded { noteUnrecorded(thing) }
    }

    /// The history's `read` entry; nil when nothing was read.
    var entry: HistoryEntry? {
        guard !isEmpty else { return nil }
        var members = JSONObject()
        if !values.isEmpty {
            members["values"] = .object(
                JSONObject(
                    values.map {
                        (key: $0.pointer.description, value: $0.value ?? .absentMark)
                    }))
        }
        if !questions.isEmpty {
            members["questions"] = .array(
                questions.map { ["ask": $0.ask, "answer": $0.answer] })
        }
        return HistoryEntry(.read, members)
    }
}
