package import JSON

/// A cursor over one object of a configuration.
///
/// Every function notes that its key is known, looks first at the variable that may override it, and
/// answers with a stand-in when it has noted a problem. A JSON `null` counts as absent.
///
/// Not for keeping: a reader belongs to the call of ``ConfigurationSource/read(_:)`` it came from.
package struct ConfigurationReader {
    let session: ReadingSession
    /// Where in the file this object stands or would stand.
    package let pointer: JSONPointer
    let members: JSONObject

    /// Whether the file holds `key` (and not `null`) or a variable sets it or something below it.
    /// Does not count as reading it.
    package func has(_ key: String) -> Bool {
        if let value = members[key], !value.isNull { return true }
        let place = pointer.appending(key)
        return session.hasOverride(at: place) || session.hasOverride(below: place)
    }

    /// The keys of this object in the order of the text. Does not count as reading them.
    package var keys: [String] { members.keys }

    /// Notes a problem with the value at `key` that only the product can see.
    package func problem(_ key: String, _ sentence: String) {
        session.note(sentence, at: pointer.appending(key))
    }

    /// A text, or nil when absent.
    package func string(_ key: String) -> String? {
        switch source(key) {
        case .absent: return nil
        case .override(_, let text): return text
        case .value(let value):
            guard let text = value.string else { return mismatch(key, "a string", value) }
            return text
        }
    }

    /// A text, or `fallback` when absent.
    package func string(_ key: String, default fallback: String) -> String {
        string(key) ?? fallback
    }

    /// A text that must be there and not be empty; `""` stands in.
    package func requiredString(_ key: String) -> String {
        let before = session.problemCount
        let text = string(key) ?? ""
        if text.isEmpty, session.problemCount == before {
            problem(key, "A text is needed here; set \"\(key)\".")
        }
        return text
    }

    /// One of a few words, or `fallback` when absent.
    package func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String, default fallback: Choice
    ) -> Choice where Choice.RawValue == String {
        guard let text = string(key) else { return fallback }
        if let choice = Choice(rawValue: text) { return choice }
        let words = Choice.allCases.map(\.rawValue)
        problem(
            key,
            "\"\(text.prefix(64))\" is not one of \(words.joined(separator: ", "))"
                + Spelling.ending(for: text, among: words))
        return fallback
    }

    /// A whole number within `range`, or nil when absent.
    package func integer(_ key: String, in range: ClosedRange<Int>) -> Int? {
        let number: Int64?
        switch source(key) {
        case .absent: return nil
        case .override(let variable, let text):
            number = Int64(text)
            if number == nil {
                overrideMismatch(key, variable, "a whole number")
                return nil
            }
        case .value(let value):
            number = value.integer
            if number == nil { return mismatch(key, "a whole number", value) }
        }
        guard let number, let whole = Int(exactly: number), range.contains(whole) else {
            problem(
                key,
                "The number must lie between \(range.lowerBound) and \(range.upperBound).")
            return nil
        }
        return whole
    }

    /// A whole number within `range`, or `fallback` when absent.
    package func integer(
        _ key: String, in range: ClosedRange<Int>, default fallback: Int
    ) -> Int {
        integer(key, in: range) ?? fallback
    }

    /// `true` or `false`, or `fallback` when absent.
    package func bool(_ key: String, default fallback: Bool) -> Bool {
        switch source(key) {
        case .absent: return fallback
        case .override(let variable, let text):
            guard let flag = Bool(text) else {
                overrideMismatch(key, variable, "true or false")
                return fallback
            }
            return flag
        case .value(let value):
            return value.bool ?? mismatch(key, "true or false", value) ?? fallback
        }
    }

    /// An array of texts, or nil when absent. A variable gives it as a JSON array, or as one text.
    ///
    /// - Parameter limit: the most texts that are admitted.
    package func stringArray(_ key: String, limit: Int = 1_024) -> [String]? {
        let items: [JSONValue]
        switch source(key) {
        case .absent: return nil
        case .override(let variable, let text):
            guard text.hasPrefix("[") else { return [text] }
            guard let parsed = try? JSONParser.parse(text), let array = parsed.array else {
                overrideMismatch(key, variable, "a JSON array of strings")
                return nil
            }
            items = array
        case .value(let value):
            guard let array = value.array else {
                return mismatch(key, "an array of strings", value)
            }
            items = array
        }
        guard items.count <= limit else {
            problem(key, "The array holds more than \(limit) texts; shorten it.")
            return nil
        }
        var texts: [String] = []
        for (index, item) in items.enumerated() {
            guard let text = item.string else {
                session.note(
                    "A string is needed here, not \(item.kind).",
                    at: pointer.appending(key).appending(index))
                continue
            }
            texts.append(text)
        }
        return texts
    }

    /// The value as it stands, with all that is in it counted as read; nil when absent.
    ///
    /// A variable's text is read as a number or boolean where it is one, else as a string.
    package func value(_ key: String) -> JSONValue? {
        switch source(key) {
        case .absent: return nil
        case .value(let value): return value
        case .override(_, let text):
            if let flag = Bool(text) { return .bool(flag) }
            if let number = JSONNumber(literal: text) { return .number(number) }
            return .string(text)
        }
    }

    enum Source {
        case absent
        case value(JSONValue)
        case override(variable: String, text: String)
    }

    func source(_ key: String) -> Source {
        session.noteRead(key, in: pointer)
        if let override = session.override(pointer.appending(key)) {
            return .override(variable: override.variable, text: override.text)
        }
        guard let value = members[key], !value.isNull else { return .absent }
        return .value(value)
    }

    func mismatch<Wanted>(_ key: String, _ wanted: String, _ value: JSONValue) -> Wanted? {
        problem(key, "\(wanted.capitalizedFirst) is needed here, not \(value.kind).")
        return nil
    }

    func overrideMismatch(_ key: String, _ variable: String, _ wanted: String) {
        session.noteOverride(variable, "must hold \(wanted).", at: pointer.appending(key))
    }
}

extension String {
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
