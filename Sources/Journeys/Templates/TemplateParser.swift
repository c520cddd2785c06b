/// Compiles a source into nodes, with an explicit stack for the open sections.
struct TemplateParser {
    private(set) var references: [TemplateReference] = []
    private(set) var partialNames: [String] = []
    /// The compiled nodes, complete after ``parse()``.
    var nodes: [TemplateNode] { levels.first ?? [] }

    private struct OpenSection {
        let name: TemplateName
        let isInverted: Bool
    }

    private var scanner: TemplateScanner
    private var openSections: [OpenSection] = []
    /// The nodes of the template and of each open section, so one more than there are sections.
    private var levels: [[TemplateNode]] = [[]]
    /// The names of the open sections that are not inverted, shared by the references within.
    private var enclosing: [String] = []
    private var seenPartials: Set<String> = []

    init(_ source: String) throws(TemplateError) {
        let bytes = Array(source.utf8)
        guard bytes.count <= Template.Limits.sourceBytes else {
            throw TemplateError(.sourceTooLarge(bytes: bytes.count), at: TemplatePlace())
        }
        scanner = TemplateScanner(bytes)
    }

    mutating func parse() throws(TemplateError) {
        var offset = 0
        while let tag = try scanner.tag(from: offset) {
            if let line = scanner.standaloneLine(of: tag) {
                addText(offset..<line.lowerBound)
                let indentation = scanner.source[line.lowerBound..<tag.range.lowerBound]
                try add(tag, indentation: Array(indentation))
                offset = line.upperBound
            } else {
                addText(offset..<tag.range.lowerBound)
                if scanner.isLineStart(tag.range.lowerBound) { append(.lineStart) }
                try add(tag, indentation: nil)
                offset = tag.range.upperBound
            }
        }
        addText(offset..<scanner.source.count)
        if let section = openSections.last {
            throw TemplateError(.sectionNotClosed(section.name.text), at: section.name.place)
        }
    }

    /// Adds text line by line, so that indentation knows where lines begin.
    private mutating func addText(_ range: Range<Int>) {
        var start = range.lowerBound
        while start < range.upperBound {
            let rest = scanner.source[start..<range.upperBound]
            let end = rest.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? range.upperBound
            let line = Array(scanner.source[start..<end])
            let isEmpty = line == Array("\n".utf8) || line == Array("\r\n".utf8)
            if scanner.isLineStart(start), !isEmpty { append(.lineStart) }
            append(.text(line))
            start = end
        }
    }

    private mutating func add(
        _ tag: TemplateTag, indentation: [UInt8]?
    ) throws(TemplateError) {
        switch tag.kind {
        case .comment: break
        case .delimiters: try scanner.setDelimiters(tag)
        case .parent: throw TemplateError(.inheritanceNotSupported, at: tag.place)
        case .variable(let isEscaped):
            let name = try Self.name(of: tag)
            note(name, role: .variable)
            append(.variable(name, isEscaped: isEscaped))
        case .section(let isInverted): try open(tag, isInverted: isInverted)
        case .sectionEnd: try close(tag)
        case .partial:
            let name = try Self.partialName(of: tag)
            if seenPartials.insert(name).inserted { partialNames.append(name) }
            append(.partial(name: name, at: tag.place, indentation: indentation))
        }
    }

    private mutating func open(
        _ tag: TemplateTag, isInverted: Bool
    ) throws(TemplateError) {
        let name = try Self.name(of: tag)
        guard openSections.count < Template.Limits.sectionDepth else {
            throw TemplateError(.sectionsTooDeep, at: tag.place)
        }
        note(name, role: .section)
        openSections.append(OpenSection(name: name, isInverted: isInverted))
        if !isInverted { enclosing.append(name.text) }
        levels.append([])
    }

    private mutating func close(_ tag: TemplateTag) throws(TemplateError) {
        let closing = try Self.name(of: tag).text
        guard let section = openSections.popLast() else {
            throw TemplateError(.sectionNotOpen(closing), at: tag.place)
        }
        guard section.name.text.utf8.elementsEqual(closing.utf8) else {
            throw TemplateError(
                .sectionClosedByOther(open: section.name.text, closing: closing), at: tag.place)
        }
        if !section.isInverted { enclosing.removeLast() }
        let body = levels.removeLast()
        append(.section(section.name, isInverted: section.isInverted, body: body))
    }

    private mutating func append(_ node: TemplateNode) { levels[levels.count - 1].append(node) }

    private mutating func note(_ name: TemplateName, role: TemplateReference.Role) {
        references.append(
            TemplateReference(
                name: name.text, role: role, sections: enclosing, line: name.place.line,
                column: name.place.column))
    }
}

extension TemplateParser {
    private static func name(of tag: TemplateTag) throws(TemplateError) -> TemplateName {
        let text = tag.content
        if text == "." { return TemplateName(text: text, parts: [], place: tag.place) }
        guard !text.isEmpty else { throw TemplateError(.emptyName, at: tag.place) }
        let bytes = text.utf8
        if let bar = bytes.firstIndex(of: UInt8(ascii: "|")) {
            let formatted = String(text[..<bar]).split(separator: " ").joined(separator: " ")
            throw TemplateError(.formatterNotSupported(formatted), at: tag.place)
        }
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard bytes.allSatisfy(isNameByte), parts.allSatisfy({ !$0.isEmpty }) else {
            throw TemplateError(.malformedName(text), at: tag.place)
        }
        return TemplateName(
            text: text, parts: parts.map { String(decoding: $0, as: UTF8.self) }, place: tag.place)
    }

    /// A partial's name is a path, so it may hold slashes, and its dots do not part it.
    private static func partialName(of tag: TemplateTag) throws(TemplateError) -> String {
        let text = tag.content
        guard let first = text.utf8.first else { throw TemplateError(.emptyName, at: tag.place) }
        if first == UInt8(ascii: "*") {
            throw TemplateError(.dynamicPartialNotSupported(text), at: tag.place)
        }
        guard text.utf8.allSatisfy({ isNameByte($0) || $0 == UInt8(ascii: "/") }) else {
            throw TemplateError(.malformedName(text), at: tag.place)
        }
        return text
    }

    /// Mustache's own signs and quotes are refused in names: there they are slips of the pen, and
    /// would otherwise be names that no scope ever has.
    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte != 0x7f && !"#^/&<>!=|*{}()\"'`,".utf8.contains(byte)
    }
}
