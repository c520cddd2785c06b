package import JSON

/// The bytes of a delivery as JSON, read once for the request.
package enum DeliveredBody: Sendable {
    /// A JSON object, with how many characters were replaced that PostgreSQL cannot hold.
    case object(JSONValue, replacements: Int)
    /// A JSON object in UTF-8 that is nested too deeply to be read; it is kept all the same.
    case tooDeep
    /// Not one JSON object in UTF-8: answered with 400. The text says what it is instead.
    case refused(String)

    /// Reads a body leniently: of a key that stands twice the last value counts; `\u0000` and halves of
    /// surrogate pairs become U+FFFD and four digits that tell which, so that ids which differ stay different.
    package init(_ bytes: [UInt8]) {
        do throws(JSONError) {
            let document = try JSONParser.parseCounting(bytes, options: .delivery)
            if case .object = document.value {
                self = .object(document.value, replacements: document.replacements)
            } else {
                self = .refused("the body is \(document.value.kind), not a JSON object")
            }
        } catch {
            let opening = bytes.first { $0 != 0x20 && $0 != 0x09 && $0 != 0x0a && $0 != 0x0d }
            if error.kind == .tooDeep, opening == UInt8(ascii: "{") {
                self = .tooDeep
            } else {
                self = .refused(error.description)
            }
        }
    }
}
