internal import JSON
internal import TimeZones

/// One line, before it becomes bytes.
struct LogLine {
    typealias Field = (key: String, value: LogValue)

    let time: Instant
    let level: LogLevel
    let message: String
    let fields: [Field]
    let customers: CustomerIDPolicy

    /// No single text takes more of a line than this, so that the ids still fit.
    private static let textLimit = 8_192
    private static let fieldLimit = 64

    /// The line with its line feed, at most ``Log/lineLimit`` bytes.
    func bytes(_ format: LogFormat) -> [UInt8] {
        let kept = fields.prefix(Self.fieldLimit)
        var line = render(
            format, message: cut(message, Self.textLimit), fields: kept,
            isCut: kept.count < fields.count)
        if line.count >= Log.lineLimit {
            // Escapes can make a text six times as long; a fifteenth of the limit each always fits.
            let short = kept.prefix(8).map { (key: cut($0.key, 64), value: shortened($0.value)) }
            line = render(format, message: cut(message, 1_024), fields: short[...], isCut: true)
        }
        line.append(UInt8(ascii: "\n"))
        return line
    }

    private func shortened(_ value: LogValue) -> LogValue {
        switch value {
        case .text(let text): .text(cut(text, 64))
        case .customer(let id): .text(cut(shown(id), 64))
        case .integer, .number, .flag: value
        }
    }

    private func render(
        _ format: LogFormat, message: String, fields: ArraySlice<Field>,
        isCut: Bool
    ) -> [UInt8] {
        switch format {
        case .json: json(message, fields, isCut)
        case .text: text(message, fields, isCut)
        }
    }

    private func json(
        _ message: String, _ fields: ArraySlice<Field>, _ isCut: Bool
    ) -> [UInt8] {
        var object = JSONObject()
        object["time"] = .string(time.description)
        object["level"] = .string(level.rawValue)
        object["message"] = .string(message)
        for field in fields {
            // A field must not pass for the line's own.
            let isTaken = ["time", "level", "message"].contains(field.key)
            object[isTaken ? field.key + "_" : field.key] = json(field.value)
        }
        if isCut { object["cut"] = true }
        return JSONValue.object(object).bytes
    }

    private func json(_ value: LogValue) -> JSONValue {
        switch value {
        case .text(let text): .string(cut(text, Self.textLimit))
        case .customer(let id): .string(cut(shown(id), Self.textLimit))
        case .integer(let number): .integer(number)
        case .number(let number):
            JSONNumber(literal: number.description).map { .number($0) } ?? .string("\(number)")
        case .flag(let flag): .bool(flag)
        }
    }

    private func text(
        _ message: String, _ fields: ArraySlice<Field>, _ isCut: Bool
    ) -> [UInt8] {
        var line = "\(time) \(level.rawValue.uppercased()) \(escaped(message))"
        for field in fields {
            let shown: String
            switch field.value {
            case .text(let text): shown = quoted(cut(text, Self.textLimit))
            case .customer(let id): shown = quoted(cut(self.shown(id), Self.textLimit))
            case .integer(let number): shown = String(number)
            case .number(let number): shown = "\(number)"
            case .flag(let flag): shown = "\(flag)"
            }
            line += " \(escaped(field.key))=\(shown)"
        }
        return Array((line + (isCut ? " cut=true" : "")).utf8)
    }

    private func shown(_ id: String) -> String {
        switch customers {
        case .plain: id
        case .hash(let digest): digest(id)
        }
    }

    /// A word as it is; anything else in quotes.
    private func quoted(_ text: String) -> String {
        let isPlain =
            !text.isEmpty
            && text.utf8.allSatisfy {
                $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "=")
            }
        return isPlain ? text : "\"" + escaped(text, quotes: true) + "\""
    }

    /// Control characters and line separators as `\u{…}`.
    private func escaped(_ text: String, quotes: Bool = false) -> String {
        var out = ""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0..<0x20, 0x7f..<0xa0, 0x2028, 0x2029:
                out += "\\u{" + String(scalar.value, radix: 16) + "}"
            case 0x22 where quotes: out += "\\\""
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }

    /// The first bytes of a text, cut between two characters.
    private func cut(_ text: String, _ limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: limit)
        while end > text.startIndex, text.utf8[end] & 0xc0 == 0x80 {
            end = text.utf8.index(before: end)
        }
        return String(text[..<end]) + "…"
    }
}
