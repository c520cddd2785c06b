/// One tag as the source has it: what it is, what it holds and which bytes it covers.
struct TemplateTag {
    enum Kind {
        case variable(isEscaped: Bool)
        case section(isInverted: Bool)
        case sectionEnd
        case partial
        case comment
        case delimiters
        case parent
    }

    let kind: Kind
    /// What it holds, without the sign and without padding.
    let content: String
    let range: Range<Int>
    let place: TemplatePlace

    /// Whether the tag, alone on its line, takes the whole line with it.
    var mayStandAlone: Bool {
        switch kind {
        case .variable: false
        case .section, .sectionEnd, .partial, .comment, .delimiters, .parent: true
        }
    }
}

/// Finds tags in a source under the delimiters in force.
struct TemplateScanner {
    let source: [UInt8]
    private var opening: [UInt8] = Array("{{".utf8)
    private var closing: [UInt8] = Array("}}".utf8)
    /// The place of `placed`, moved forward only, so that all places cost one pass together.
    private var place = TemplatePlace()
    private var placed = 0

    init(_ source: [UInt8]) { self.source = source }

    /// The next tag that begins at or after an offset, or nil when only text is left.
    mutating func tag(from offset: Int) throws(TemplateError) -> TemplateTag? {
        guard let start = find(opening, from: offset) else { return nil }
        place.advance(over: source[placed..<start])
        placed = start

        var content = start + opening.count
        while content < source.count, Self.isSpace(source[content]) { content += 1 }
        let sign = content < source.count ? Self.kind(of: source[content]) : nil
        if sign != nil { content += 1 }
        let kind = sign?.kind ?? .variable(isEscaped: true)
        let ending = (sign?.ending.map { [$0] } ?? []) + closing
        guard let end = find(ending, from: content) else {
            throw TemplateError(.tagNotClosed, at: place)
        }
        return TemplateTag(
            kind: kind, content: trimmed(content..<end), range: start..<(end + ending.count),
            place: place)
    }

    /// Takes new delimiters from the content of a tag that sets them.
    mutating func setDelimiters(_ tag: TemplateTag) throws(TemplateError) {
        let parts = tag.content.utf8.split(whereSeparator: Self.isSpace).map { Array($0) }
        let isFit = parts.allSatisfy {
            $0.count <= Template.Limits.delimiterBytes && !$0.contains(UInt8(ascii: "="))
        }
        guard parts.count == 2, isFit else {
            throw TemplateError(.malformedDelimiters(tag.content), at: tag.place)
        }
        opening = parts[0]
        closing = parts[1]
    }

    /// The whole line of a tag that is alone on it, or nil. Only the source is asked: whatever a
    /// neighbouring tag prints, its delimiters are not blank.
    func standaloneLine(of tag: TemplateTag) -> Range<Int>? {
        guard tag.mayStandAlone else { return nil }
        var start = tag.range.lowerBound
        while start > 0, Self.isBlank(source[start - 1]) { start -= 1 }
        guard isLineStart(start) else { return nil }
        var end = tag.range.upperBound
        while end < source.count, Self.isBlank(source[end]) { end += 1 }
        if end == source.count { return start..<end }
        if source[end] == UInt8(ascii: "\r") { end += 1 }
        guard end < source.count, source[end] == UInt8(ascii: "\n") else { return nil }
        return start..<(end + 1)
    }

    /// Whether a line of the source begins at an offset.
    func isLineStart(_ offset: Int) -> Bool {
        offset == 0 || source[offset - 1] == UInt8(ascii: "\n")
    }

    /// What a sign makes of its tag, and the sign that must repeat before the closing delimiter.
    private static func kind(of sign: UInt8) -> (kind: TemplateTag.Kind, ending: UInt8?)? {
        switch sign {
        case UInt8(ascii: "#"): (.section(isInverted: false), nil)
        case UInt8(ascii: "^"): (.section(isInverted: true), nil)
        case UInt8(ascii: "/"): (.sectionEnd, nil)
        case UInt8(ascii: ">"): (.partial, nil)
        case UInt8(ascii: "!"): (.comment, nil)
        case UInt8(ascii: "="): (.delimiters, UInt8(ascii: "="))
        case UInt8(ascii: "{"): (.variable(isEscaped: false), UInt8(ascii: "}"))
        case UInt8(ascii: "&"): (.variable(isEscaped: false), nil)
        case UInt8(ascii: "<"): (.parent, nil)
        default: nil
        }
    }

    private func trimmed(_ range: Range<Int>) -> String {
        var range = range
        while let first = range.first, Self.isSpace(source[first]) {
            range = (first + 1)..<range.upperBound
        }
        while let last = range.last, Self.isSpace(source[last]) { range = range.lowerBound..<last }
        return String(decoding: source[range], as: UTF8.self)
    }

    /// Delimiters are short, so the plain search is linear enough.
    private func find(_ wanted: [UInt8], from offset: Int) -> Int? {
        guard let first = wanted.first else { return nil }
        var start = offset
        while start + wanted.count <= source.count {
            if source[start] == first, source[start..<(start + wanted.count)].elementsEqual(wanted)
            {
                return start
            }
            start += 1
        }
        return nil
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        isBlank(byte) || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
    }
}
