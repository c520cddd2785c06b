package import JSON

/// Rows of JSON objects with a choice of columns; prints in every ``OutputFormat``.
///
/// Numbers keep all their digits in every format. The table shows the columns; `json` and `jsonl`
/// print the rows whole.
package struct Table: Sendable {
    /// A column of the table form.
    package struct Column: Sendable, Hashable {
        /// The side the cells of a column stand at.
        package enum Alignment: Sendable, Hashable { case left, right }

        /// The head, such as `STATUS`.
        package let title: String
        /// Which part of a row it shows.
        package let pointer: JSONPointer
        /// Right for numbers.
        package let alignment: Alignment

        /// - Parameter key: the member of the row that is shown.
        package init(_ title: String, key: String, alignment: Alignment = .left) {
            self.init(title, at: JSONPointer(tokens: [key]), alignment: alignment)
        }

        /// - Parameter pointer: the part of the row that is shown.
        package init(_ title: String, at pointer: JSONPointer, alignment: Alignment = .left) {
            self.title = title
            self.pointer = pointer
            self.alignment = alignment
        }
    }

    /// From left to right.
    package var columns: [Column]
    /// Objects, usually.
    package var rows: [JSONValue]
    /// The part of a row that `ids` prints.
    package var id: JSONPointer

    /// - Parameter idKey: the member of a row that `ids` prints.
    package init(columns: [Column], rows: [JSONValue] = [], idKey: String = "id") {
        self.columns = columns
        self.rows = rows
        id = JSONPointer(tokens: [idKey])
    }

    /// The whole text, each line ended; empty for `jsonl` and `ids` without rows.
    ///
    /// - Parameter emphasis: wraps the heads, for terminals that show bold.
    package func text(_ format: OutputFormat, emphasis: Bool = false) -> String {
        switch format {
        case .table: aligned(emphasis: emphasis)
        case .json: JSONValue.array(rows).pretty + "\n"
        case .jsonl: rows.map { $0.text + "\n" }.joined()
        case .ids:
            rows.compactMap { id.resolve(in: $0).map { Self.cell($0) + "\n" } }.joined()
        }
    }

    private func aligned(emphasis: Bool) -> String {
        let cells = rows.map { row in
            columns.map { $0.pointer.resolve(in: row).map(Self.cell) ?? "-" }
        }
        let widths = columns.indices.map { index in
            (cells.map { displayWidth($0[index]) } + [displayWidth(columns[index].title)]).max()
                ?? 0
        }
        func line(_ texts: [String]) -> String {
            let padded = texts.indices.map { index in
                let space = String(
                    repeating: " ", count: max(0, widths[index] - displayWidth(texts[index])))
                switch columns[index].alignment {
                case .left: return texts[index] + space
                case .right: return space + texts[index]
                }
            }.joined(separator: "  ")
            return String(padded.reversed().drop { $0 == " " }.reversed())
        }
        let head = line(columns.map(\.title))
        let lines = [emphasis ? "\u{1b}[1m\(head)\u{1b}[0m" : head] + cells.map(line)
        return lines.joined(separator: "\n") + "\n"
    }

    /// A value in one line of text that can do nothing to a terminal.
    private static func cell(_ value: JSONValue) -> String {
        switch value {
        case .null: "-"
        case .string(let text): text.isEmpty ? "-" : printable(text)
        case .bool, .number, .array, .object: printable(value.text)
        }
    }
}

/// The text with control characters shown as `\u{1b}`, so that stored text cannot steer a terminal.
package func printable(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isUnprintable) else { return text }
    var shown = ""
    for scalar in text.unicodeScalars {
        if isUnprintable(scalar) {
            shown += "\\u{" + String(scalar.value, radix: 16) + "}"
        } else {
            shown.unicodeScalars.append(scalar)
        }
    }
    return shown
}

/// Control characters, and those that turn the direction of what follows.
private func isUnprintable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7f..<0xa0, 0x202a...0x202e, 0x2066...0x2069, 0x2028, 0x2029: true
    default: false
    }
}

/// The columns a terminal gives a text, near enough: wide for East Asian and emoji, none for marks.
func displayWidth(_ text: String) -> Int {
    text.reduce(0) { sum, character in
        guard let first = character.unicodeScalars.first else { return sum }
        if character.unicodeScalars.contains(where: { $0.value == 0xfe0f }) { return sum + 2 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return sum
        default: return sum + (isWide(first.value) ? 2 : 1)
        }
    }
}

private func isWide(_ value: UInt32) -> Bool {
    switch value {
    case 0x1100...0x115f, 0x2e80...0x303e, 0x3041...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff,
        0xfe30...0xfe6f, 0xff00...0xff60, 0xffe0...0xffe6, 0x1f300...0x1f64f, 0x1f680...0x1f6ff,
        0x1f900...0x1f9ff, 0x20000...0x3fffd:
        true
    default: false
    }
}
