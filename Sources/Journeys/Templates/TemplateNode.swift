/// A compiled piece of a template.
enum TemplateNode: Sendable {
    /// Text of the source, at most one line of it.
    case text([UInt8])
    /// A line of the source that leaves text begins here: a partial's indentation goes here, and so
    /// never before the lines inside a value.
    case lineStart
    case variable(TemplateName, isEscaped: Bool)
    case section(TemplateName, isInverted: Bool, body: [TemplateNode])
    /// `indentation` is nil when the tag shares its line with something else.
    case partial(name: String, at: TemplatePlace, indentation: [UInt8]?)
}

/// A dotted name and where it was written.
struct TemplateName: Sendable {
    /// As written, without padding.
    let text: String
    /// The parts between the dots; none for the implicit iterator.
    let parts: [String]
    let place: TemplatePlace
}

/// A place in a source: both count from 1, columns in Unicode scalars.
struct TemplatePlace: Sendable, Hashable {
    var line = 1
    var column = 1

    /// Moves over bytes of the source.
    mutating func advance(over bytes: ArraySlice<UInt8>) {
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                line += 1
                column = 1
            } else if byte & 0b1100_0000 != 0b1000_0000 {
                column += 1
            }
        }
    }
}
