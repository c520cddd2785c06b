/// Why a text is not the JSON that was asked for, with the byte offset.
///
/// The description is the middle of a sentence: who reports it says which text it was.
package struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What can be wrong with a text.
    package enum Kind: Sendable, Hashable {
        case syntax, unexpectedEnd, trailingText, tooDeep, invalidUTF8, loneSurrogate, nulCharacter
        case duplicateKey(String)
    }

    /// What is wrong.
    package let kind: Kind
    /// Bytes from the start of the text.
    package let offset: Int

    /// An error that a reader beside the parser found.
    package init(kind: Kind, offset: Int) {
        self.kind = kind
        self.offset = offset
    }

    /// The fact and the byte, without full stop.
    package var description: String {
        let what =
            switch kind {
            case .syntax: "this is not JSON"
            case .unexpectedEnd: "the JSON text ends too early"
            case .trailingText: "text follows the JSON value"
            case .tooDeep: "the JSON is nested too deeply"
            case .invalidUTF8: "the text is not UTF-8"
            case .loneSurrogate: "a \\u escape is half of a surrogate pair"
            case .nulCharacter: "a string holds \\u0000"
            case .duplicateKey(let key): "the key \"\(key.prefix(64))\" stands twice in one object"
            }
        return "\(what) (at byte \(offset))"
    }
}
