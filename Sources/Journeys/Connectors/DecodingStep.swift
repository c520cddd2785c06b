internal import Crypto
internal import JSON

/// A text inside a body that holds JSON itself; its value takes the text's place before anything is read.
struct DecodingStep: Sendable, Hashable {
    enum Form: String, Sendable, Hashable, CaseIterable {
        /// JSON in a text.
        case json
        /// JSON in base64, of either alphabet, as Pub/Sub wraps it.
        case base64JSON = "base64-json"
        /// The payload of a compact JSON Web Signature. The scheme `apple-jws` has checked it at the door;
        /// here it is only read, since stored bytes are read again for years.
        case signedText = "jws"
    }

    let pointer: JSONPointer
    let form: Form

    /// Deep enough for any payload, and shallow enough that nested in another one it can be stored.
    private static let options: JSONParser.Options = {
        var options = JSONParser.Options.delivery
        options.maximumDepth = 40
        return options
    }()

    /// The value in a text; nil when the text holds none.
    func decode(_ text: String) -> JSONParser.Document? {
        let bytes: [UInt8]?
        switch form {
        case .json: bytes = Array(text.utf8)
        case .base64JSON:
            bytes =
                Base64.decode(text, padding: .optional)
                ?? Base64.decode(text, alphabet: .urlSafe, padding: .optional)
        case .signedText: bytes = (try? CompactJWS(parsing: text))?.payload
        }
        return bytes.flatMap { try? JSONParser.parseCounting($0, options: Self.options) }
    }
}

/// A body after its definition's decoding steps.
struct DecodedBody {
    var value: JSONValue
    /// Characters replaced inside decoded texts.
    var replacements = 0
    /// The places whose text could not be decoded; it stays as it was.
    var undecoded: [JSONPointer] = []

    init(_ body: JSONValue, steps: [DecodingStep]) {
        value = body
        for step in steps {
            guard let text = step.pointer.resolve(in: value)?.string, !text.isEmpty else {
                continue
            }
            guard let document = step.decode(text) else {
                undecoded.append(step.pointer)
                continue
            }
            replacements += document.replacements
            value = value.replacing(step.pointer, with: document.value)
        }
    }
}

extension JSONValue {
    /// A copy with another value at a place that is there.
    func replacing(_ pointer: JSONPointer, with value: JSONValue) -> JSONValue {
        replacing(pointer.tokens[...], with: value)
    }

    private func replacing(_ tokens: ArraySlice<String>, with value: JSONValue) -> JSONValue {
        guard let token = tokens.first else { return value }
        switch self {
        case .object(var object):
            guard let member = object[token] else { return self }
            object[token] = member.replacing(tokens.dropFirst(), with: value)
            return .object(object)
        case .array(var items):
            guard let index = Int(token), items.indices.contains(index) else { return self }
            items[index] = items[index].replacing(tokens.dropFirst(), with: value)
            return .array(items)
        case .null, .bool, .number, .string: return self
        }
    }
}
