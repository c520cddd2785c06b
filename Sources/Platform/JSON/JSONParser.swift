/// A strict RFC 8259 parser over UTF-8 with bounds; numbers keep their text.
package struct JSONParser {
    /// What a caller admits beyond the letter of RFC 8259, or refuses within it.
    package struct Options: Sendable {
        /// Nesting bound, 1 or more.
        package var maximumDepth = 64
        /// Refuse an object that holds a key twice; otherwise the last one counts.
        package var refusesDuplicateKeys = true
        /// Put U+FFFD for `\u0000` and lone surrogates, which PostgreSQL cannot hold; otherwise
        /// both are errors.
        package var replacesUnstorable = false
        /// With `replacesUnstorable`: put four hexadecimal digits after U+FFFD that tell what stood
        /// there, and `fffd` after a U+FFFD of the text's own that such digits follow. No two texts
        /// then become one, so ids that were altered stay different ids.
        package var marksReplaced = false

        /// The strict options.
        package init() {}

        /// For text that people write: nothing doubtful passes.
        package static let definition = Options()
        /// For a body that a provider signed: read whatever can be read.
        package static let webhook: Options = {
            var options = Options()
            options.refusesDuplicateKeys = false
            options.replacesUnstorable = true
            return options
        }()
        /// For a body whose ids must stay apart: as ``webhook``, with marks for what was replaced.
        package static let delivery: Options = {
            var options = webhook
            options.marksReplaced = true
            return options
        }()
    }

    /// A value with what parsing noted about it.
    package struct Document: Sendable {
        /// The value itself.
        package let value: JSONValue
        /// Byte offset of every value and (where an object's member) its key, by pointer.
        package let offsets: [JSONPointer: Int]
        /// How many characters were replaced under `replacesUnstorable`.
        package let replacements: Int
    }

    let bytes: UnsafeBufferPointer<UInt8>
    let options: Options
    private let keepsOffsets: Bool
    var position = 0
    var replacements = 0
    private var offsets: [JSONPointer: Int] = [:]
    private var path = JSONPointer()
    /// Whether a key stood twice: what stood in its earlier value is no part of the document.
    private var hasTwins = false

    /// Parses one value and nothing after it.
    package static func parse(
        _ bytes: [UInt8], options: Options = .definition
    ) throws(JSONError) -> JSONValue {
        try run(bytes, options: options, keepsOffsets: false).value
    }

    /// Parses one value and nothing after it.
    package static func parse(
        _ text: String, options: Options = .definition
    ) throws(JSONError) -> JSONValue {
        try parse(Array(text.utf8), options: options)
    }

    /// Parses one value and keeps where each part of it stood; for diagnostics.
    package static func parseDocument(
        _ bytes: [UInt8], options: Options = .definition
    ) throws(JSONError) -> Document {
        try run(bytes, options: options, keepsOffsets: true)
    }

    /// Parses one value and counts replaced characters.
    package static func parseCounting(
        _ bytes: [UInt8], options: Options
    ) throws(JSONError) -> Document {
        try run(bytes, options: options, keepsOffsets: false)
    }

    private static func run(
        _ bytes: [UInt8], options: Options, keepsOffsets: Bool
    ) throws(JSONError) -> Document {
        let result: Result<Document, JSONError> = bytes.withUnsafeBufferPointer { buffer in
            var parser = JSONParser(bytes: buffer, options: options, keepsOffsets: keepsOffsets)
            do throws(JSONError) {
                let value = try parser.document()
                return .success(
                    Document(
                        value: value, offsets: parser.offsets, replacements: parser.replacements))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private init(bytes: UnsafeBufferPointer<UInt8>, options: Options, keepsOffsets: Bool) {
        self.bytes = bytes
        self.options = options
        self.keepsOffsets = keepsOffsets
    }

    private mutating func document() throws(JSONError) -> JSONValue {
        skipBlanks()
        let value = try parseValue(depth: 0)
        skipBlanks()
        guard position == bytes.count else { throw error(.trailingText) }
        if keepsOffsets, hasTwins {
            offsets = offsets.filter { $0.key.resolve(in: value) != nil }
        }
        return value
    }

    func error(_ kind: JSONError.Kind) -> JSONError {
        JSONError(kind: kind, offset: position)
    }

    @inline(__always)
    private mutating func skipBlanks() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0a, 0x0d: position &+= 1
            default: return
            }
        }
    }

    private mutating func parseValue(depth: Int) throws(JSONError) -> JSONValue {
        guard position < bytes.count else { throw error(.unexpectedEnd) }
        if keepsOffsets { offsets[path] = position }
        switch bytes[position] {
        case UInt8(ascii: "\""): return .string(try parseString())
        case UInt8(ascii: "{"): return try parseObject(depth: depth)
        case UInt8(ascii: "["): return try parseArray(depth: depth)
        case UInt8(ascii: "t"): return try parseWord("true", .bool(true))
        case UInt8(ascii: "f"): return try parseWord("false", .bool(false))
        case UInt8(ascii: "n"): return try parseWord("null", .null)
        default: return try parseNumber()
        }
    }

    private mutating func parseObject(depth: Int) throws(JSONError) -> JSONValue {
        if depth >= options.maximumDepth { throw error(.tooDeep) }
        position &+= 1
        skipBlanks()
        var members: [(key: String, value: JSONValue)] = []
        if position < bytes.count, bytes[position] == UInt8(ascii: "}") {
            position &+= 1
            return .object(JSONObject())
        }
        members.reserveCapacity(8)
        var seen = KeySet()
        while true {
            guard position < bytes.count else { throw error(.unexpectedEnd) }
            guard bytes[position] == UInt8(ascii: "\"") else { throw error(.syntax) }
            let keyOffset = position
            let key = try parseString()
            skipBlanks()
            guard position < bytes.count else { throw error(.unexpectedEnd) }
            guard bytes[position] == UInt8(ascii: ":") else { throw error(.syntax) }
            position &+= 1
            skipBlanks()
            if keepsOffsets { path.tokens.append(key) }
            let value = try parseValue(depth: depth + 1)
            if keepsOffsets {
                offsets[path] = keyOffset
                path.tokens.removeLast()
            }
            if let earlier = seen.insert(key, at: members.count, among: members) {
                if options.refusesDuplicateKeys {
                    throw JSONError(kind: .duplicateKey(key), offset: keyOffset)
                }
                members[earlier].value = value
                hasTwins = true
            } else {
                members.append((key, value))
            }
            skipBlanks()
            guard position < bytes.count else { throw error(.unexpectedEnd) }
            switch bytes[position] {
            case UInt8(ascii: ","):
                position &+= 1
                skipBlanks()
            case UInt8(ascii: "}"):
                position &+= 1
                return .object(JSONObject(members))
            default: throw error(.syntax)
            }
        }
    }

    private mutating func parseArray(depth: Int) throws(JSONError) -> JSONValue {
        if depth >= options.maximumDepth { throw error(.tooDeep) }
        position &+= 1
        skipBlanks()
        var items: [JSONValue] = []
        if position < bytes.count, bytes[position] == UInt8(ascii: "]") {
            position &+= 1
            return .array(items)
        }
        while true {
            if keepsOffsets { path.tokens.append(String(items.count)) }
            items.append(try parseValue(depth: depth + 1))
            if keepsOffsets { path.tokens.removeLast() }
            skipBlanks()
            guard position < bytes.count else { throw error(.unexpectedEnd) }
            switch bytes[position] {
            case UInt8(ascii: ","):
                position &+= 1
                skipBlanks()
            case UInt8(ascii: "]"):
                position &+= 1
                return .array(items)
            default: throw error(.syntax)
            }
        }
    }

    private mutating func parseWord(
        _ word: StaticString, _ value: JSONValue
    ) throws(JSONError) -> JSONValue {
        for index in 0..<word.utf8CodeUnitCount {
            guard position < bytes.count else { throw error(.unexpectedEnd) }
            guard bytes[position] == word.utf8Start[index] else { throw error(.syntax) }
            position &+= 1
        }
        return value
    }

    private mutating func parseNumber() throws(JSONError) -> JSONValue {
        let start = position
        if bytes[position] == UInt8(ascii: "-") { position &+= 1 }
        guard position < bytes.count else { throw error(.unexpectedEnd) }
        if bytes[position] == UInt8(ascii: "0") {
            position &+= 1
            if position < bytes.count, isDigit(bytes[position]) { throw error(.syntax) }
        } else {
            try skipDigits()
        }
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            position &+= 1
            try skipDigits()
        }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            position &+= 1
            if position < bytes.count, bytes[position] == 0x2b || bytes[position] == 0x2d {
                position &+= 1
            }
            try skipDigits()
        }
        let span = UnsafeBufferPointer(rebasing: bytes[start..<position])
        return .number(JSONNumber(checked: String(decoding: span, as: UTF8.self)))
    }

    private mutating func skipDigits() throws(JSONError) {
        guard position < bytes.count else { throw error(.unexpectedEnd) }
        guard isDigit(bytes[position]) else { throw error(.syntax) }
        while position < bytes.count, isDigit(bytes[position]) { position &+= 1 }
    }

    @inline(__always)
    private func isDigit(_ byte: UInt8) -> Bool { byte >= 48 && byte <= 57 }
}
