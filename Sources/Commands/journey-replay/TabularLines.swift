internal import JSON

/// Rows of a file of JSON lines, or of CSV with a header (RFC 4180): told apart by the first byte.
struct TabularLines: ~Copyable {
    /// A row, or why its line is none.
    enum Row {
        case row(JSONObject)
        case bad(String)
    }

    private var lines: FileLines
    private let renamed: [String: String]
    private let known: [String]?
    private var header: [String]?
    private var isCSV: Bool?
    /// The number of the line last read, from 1.
    private(set) var number = 0

    /// - Parameters:
    ///   - renamed: our name of each column of theirs.
    ///   - known: columns besides these are left out; nil to take all.
    init(path: String, renamed: [String: String], known: [String]?) throws {
        lines = try FileLines(path: path)
        self.renamed = renamed
        self.known = known
    }

    /// The next row; nil after the last. Empty lines are none.
    mutating func next() throws -> Row? {
        while var line = try lines.next() {
            number += 1
            if number == 1, line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
            if line.last == 0x0D { line.removeLast() }
            guard let first = line.first(where: { $0 != 0x20 && $0 != 0x09 }) else { continue }
            if isCSV == nil { isCSV = first != UInt8(ascii: "{") }
            if isCSV == true {
                guard let cells = Self.cells(line) else {
                    return .bad("a quoted cell is not closed on its line")
                }
                guard let header else {
                    header = cells.map { ours($0) }
                    continue
                }
                guard cells.count == header.count else {
                    return .bad("it has \(cells.count) cells, and the header \(header.count)")
                }
                var row = JSONObject()
                for (name, cell) in zip(header, cells) where isTaken(name) {
                    row[name] = .string(cell)
                }
                return .row(row)
            }
            guard let object = (try? JSONParser.parse(line))?.object else {
                return .bad("it is no JSON object")
            }
            var row = JSONObject()
            for (name, value) in object where isTaken(ours(name)) { row[ours(name)] = value }
            return .row(row)
        }
        return nil
    }

    private func ours(_ name: String) -> String { renamed[name] ?? name }

    private func isTaken(_ name: String) -> Bool { known?.contains(name) ?? true }

    /// The cells of one line; nil when a quote is open at its end.
    static func cells(_ line: [UInt8]) -> [String]? {
        var cells: [String] = []
        var cell: [UInt8] = []
        var isQuoted = false
        var place = 0
        while place < line.count {
            let byte = line[place]
            place += 1
            if isQuoted {
                if byte != UInt8(ascii: "\"") {
                    cell.append(byte)
                } else if place < line.count, line[place] == byte {
                    cell.append(byte)
                    place += 1
                } else {
                    isQuoted = false
                }
            } else if byte == UInt8(ascii: "\""), cell.isEmpty {
                isQuoted = true
            } else if byte == UInt8(ascii: ",") {
                cells.append(String(decoding: cell, as: UTF8.self))
                cell = []
            } else {
                cell.append(byte)
            }
        }
        return isQuoted ? nil : cells + [String(decoding: cell, as: UTF8.self)]
    }
}
