package import JSON

/// Something wrong in a catalogue file, with its place and where possible the fix.
package struct CatalogueDiagnostic: Sendable, Hashable, CustomStringConvertible {
    /// The file's name as the caller gave it.
    package let file: String
    /// From 1.
    package let line: Int
    /// From 1, in characters.
    package let column: Int
    /// The value it is about; for a missing one, the object that lacks it.
    package let pointer: JSONPointer
    /// One sentence with the fact and the next step.
    package let sentence: String
    /// What to write instead.
    package let fix: String?

    /// `file:line:column: error: sentence (at /pointer)`.
    package var description: String {
        let place = pointer.tokens.isEmpty ? "" : " (at \(pointer))"
        let hint = fix.map { " Did you mean \"\($0)\"?" } ?? ""
        return "\(file):\(line):\(column): error: \(sentence)\(hint)\(place)"
    }
}

/// Collects what is wrong with one file.
struct CatalogueProblems {
    let file: String
    private let bytes: [UInt8]
    private let offsets: [JSONPointer: Int]
    private(set) var diagnostics: [CatalogueDiagnostic] = []

    /// More than this many of one file are not listed: a file of noise stays readable.
    private static let listed = 200

    init(file: String, bytes: [UInt8], offsets: [JSONPointer: Int] = [:]) {
        self.file = file
        self.bytes = bytes
        self.offsets = offsets
    }

    mutating func add(_ pointer: JSONPointer, _ sentence: String, fix: String? = nil) {
        add(offset: place(pointer), pointer, sentence, fix: fix)
    }

    mutating func add(
        offset: Int, _ pointer: JSONPointer, _ sentence: String, fix: String? = nil
    ) {
        guard diagnostics.count < Self.listed else { return }
        let (line, column) = lineAndColumn(ofByte: offset, in: bytes)
        diagnostics.append(
            CatalogueDiagnostic(
                file: file, line: line, column: column, pointer: pointer, sentence: sentence,
                fix: fix))
    }

    /// The place of the nearest part that stands in the text.
    private func place(_ pointer: JSONPointer) -> Int {
        var pointer = pointer
        while true {
            if let offset = offsets[pointer] { return offset }
            if pointer.tokens.isEmpty { return 0 }
            pointer.tokens.removeLast()
        }
    }
}
