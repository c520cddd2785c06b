package import JSON

/// What one decision read, as its history holds it: enough to make the decision again without the
/// facts, and without the rules of time zones.
package struct RecordedReads: Sendable, Hashable {
    /// Pointers under `/customer`, `/subscription` and `/features` with their value; nil for missing.
    package private(set) var values: [JSONPointer: JSONValue?]
    /// Other things asked (see HistoryFormat) with their answers, by the canonical text of the question.
    package private(set) var answers: [String: JSONValue]

    package init() {
        values = [:]
        answers = [:]
    }

    /// Reads the entries of one decision.
    package init(_ entries: [HistoryEntry]) {
        self.init()
        for entry in entries where entry.kind == .read {
            for (text, value) in entry.members["values"]?.object ?? JSONObject() {
                guard let pointer = JSONPointer(text) else { continue }
                values[pointer] = .some(value.isAbsentMark ? JSONValue?.none : value)
            }
            for question in entry.members["questions"]?.array ?? [] {
                guard let ask = question["ask"], let answer = question["answer"] else { continue }
                answers[Self.key(ask)] = answer
            }
        }
    }

    /// Whether it is known what stands at a pointer: it was read, or something around it was.
    func holds(_ pointer: JSONPointer) -> Bool {
        (0...pointer.tokens.count).contains { length in
            values[JSONPointer(tokens: Array(pointer.tokens.prefix(length)))] != nil
        }
    }

    /// Makes a pointer known, as the decision itself does when it sets an attribute.
    mutating func learn(_ pointer: JSONPointer, _ value: JSONValue?) {
        if values[pointer] == nil { values[pointer] = .some(value) }
    }

    /// Makes an answer known, as the decision itself does when it assigns a variant.
    mutating func learn(_ ask: JSONValue, _ answer: JSONValue) {
        answers[Self.key(ask)] = answer
    }

    /// The object of everything known below a root, such as `customer`; shorter pointers first, so that
    /// what was read inside something read whole stays as it was.
    func object(of root: String) -> JSONObject {
        var object = JSONObject()
        let below = values.filter { $0.key.tokens.first == root }
            .sorted { $0.key.tokens.count < $1.key.tokens.count }
        for (pointer, value) in below {
            guard let value else { continue }
            let tokens = pointer.tokens.dropFirst()
            if tokens.isEmpty {
                object = value.object ?? object
            } else if JSONPointer(tokens: Array(tokens)).resolve(in: .object(object)) == nil {
                object.place(value, at: tokens)
            }
        }
        return object
    }

    /// How a question is told from others.
    static func key(_ ask: JSONValue) -> String {
        String(decoding: ask.canonicalBytes, as: UTF8.self)
    }
}

extension JSONValue {
    /// How the history writes that nothing stood at a pointer.
    static var absentMark: JSONValue { ["absent": true] }

    var isAbsentMark: Bool { self == .absentMark }
}

extension JSONObject {
    fileprivate mutating func place(_ value: JSONValue, at tokens: ArraySlice<String>) {
        guard let first = tokens.first else { return }
        if tokens.count == 1 {
            self[first] = value
        } else {
            var inner = self[first]?.object ?? JSONObject()
            inner.place(value, at: tokens.dropFirst())
            self[first] = .object(inner)
        }
    }
}
