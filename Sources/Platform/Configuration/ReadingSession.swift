internal import JSON

/// What one reading of a configuration has found so far; shared by its readers, on one task.
final class ReadingSession {
    let source: ConfigurationSource
    private(set) var allowsLiteralSecrets = false
    /// Problems found, those past the bound too.
    private(set) var problemCount = 0
    private let document: JSONParser.Document
    private let members: JSONObject
    /// Overriding variables by path: upper-case segments, each joined by `__`.
    private let overrides: [String: (variable: String, text: String)]
    private var usedOverrides: Set<String> = []
    private var objects: [JSONPointer: VisitedObject] = [:]
    private var found: [(offset: Int, problem: ConfigurationProblem)] = []

    private struct VisitedObject {
        let members: JSONObject
        var keys: Set<String> = []
    }

    static let literalSecretsKey = "allow_literal_secrets"

    init(source: ConfigurationSource, document: JSONParser.Document, members: JSONObject) {
        self.source = source
        self.document = document
        self.members = members
        var overrides: [String: (variable: String, text: String)] = [:]
        for (variable, text) in source.environment where variable.hasPrefix(source.prefix) {
            if source.ignored.contains(variable) { continue }
            let path = String(variable.dropFirst(source.prefix.count))
            overrides[path] = (variable, text)
        }
        self.overrides = overrides
    }

    /// By place in the text; those without one come last, and a word on those past the bound.
    var problemsInOrder: [ConfigurationProblem] {
        var problems = found.enumerated().sorted {
            ($0.element.offset, $0.offset) < ($1.element.offset, $1.offset)
        }.map(\.element.problem)
        if problemCount > found.count {
            problems.append(
                ConfigurationProblem(
                    pointer: JSONPointer(),
                    sentence: "\(problemCount - found.count) more problems are not listed; "
                        + "mend these first."))
        }
        return problems
    }

    var root: ConfigurationReader {
        let reader = ConfigurationReader(
            session: self, pointer: JSONPointer(), members: members)
        visit(JSONPointer(), members)
        allowsLiteralSecrets = reader.bool(Self.literalSecretsKey, default: false)
        return reader
    }

    func visit(_ pointer: JSONPointer, _ members: JSONObject) {
        if objects[pointer] == nil { objects[pointer] = VisitedObject(members: members) }
    }

    func noteRead(_ key: String, in pointer: JSONPointer) {
        objects[pointer]?.keys.insert(key)
    }

    /// The text of the variable that overrides this value, if one does.
    func override(_ pointer: JSONPointer) -> (variable: String, text: String)? {
        let path = pointer.tokens.map(Self.segment).joined(separator: "__")
        guard let override = overrides[path] else { return nil }
        usedOverrides.insert(path)
        return override
    }

    /// Whether a variable overrides this value; does not count as using it.
    func hasOverride(at pointer: JSONPointer) -> Bool {
        overrides[pointer.tokens.map(Self.segment).joined(separator: "__")] != nil
    }

    /// Whether any variable overrides something below `pointer`.
    func hasOverride(below pointer: JSONPointer) -> Bool {
        let path = pointer.tokens.map { Self.segment($0) + "__" }.joined()
        return overrides.keys.contains { $0.hasPrefix(path) }
    }

    /// `forget.remember` → `FORGET_REMEMBER`: what a shell admits in a name.
    private static func segment(_ key: String) -> String {
        String(
            decoding: key.utf8.map { byte -> UInt8 in
                switch byte {
                case 97...122: byte & 0xdf
                case 65...90, 48...57: byte
                default: UInt8(ascii: "_")
                }
            }, as: UTF8.self)
    }

    /// The most problems that are kept: finding the line of each reads the text once.
    private static let problemLimit = 100

    func note(_ sentence: String, at pointer: JSONPointer) {
        problemCount += 1
        guard found.count < Self.problemLimit else { return }
        // A missing value stands nowhere: its nearest object says where it belongs.
        var holder = pointer
        while document.offsets[holder] == nil, !holder.tokens.isEmpty {
            holder.tokens.removeLast()
        }
        let offset = document.offsets[holder] ?? 0
        let position = lineAndColumn(ofByte: offset, in: source.bytes)
        let problem = ConfigurationProblem(
            pointer: pointer, line: position.line, column: position.column, sentence: sentence)
        found.append((offset, problem))
    }

    /// A problem of the environment, which no line of the file holds.
    func noteOverride(_ variable: String, _ sentence: String, at pointer: JSONPointer) {
        let problem = ConfigurationProblem(
            pointer: pointer, sentence: "The variable \(variable) \(sentence)")
        problemCount += 1
        if found.count < Self.problemLimit { found.append((.max, problem)) }
    }

    /// Notes keys of visited objects and overriding variables that nothing asked for.
    func noteUnread() {
        for (pointer, object) in objects {
            let present = Set(object.members.keys)
            let known = object.keys.filter { !present.contains($0) }.sorted()
            for key in object.members.keys where !object.keys.contains(key) {
                note(
                    "The key \"\(key.prefix(64))\" is not known here"
                        + Spelling.ending(for: key, among: known),
                    at: pointer.appending(key))
            }
        }
        for (path, override) in overrides.sorted(by: { $0.key < $1.key })
        where !usedOverrides.contains(path) {
            noteOverride(
                override.variable, "overrides nothing that is known; unset it or correct its name.",
                at: JSONPointer())
        }
    }
}
