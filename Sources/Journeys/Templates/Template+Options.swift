extension Template {
    /// What a variable without a value does. A `null` counts as missing.
    ///
    /// Sections and inverted sections may test a missing name in either way: that is what they are
    /// for.
    package enum Missing: Sendable, Hashable {
        /// The rendering fails and names it; for messages. Partials must be known, and a variable
        /// must be a string, number or boolean.
        case error
        /// It is the empty text, as is an unknown partial; for previews and the public suite.
        case empty
    }

    /// How `{{name}}` is written for its destination. `{{{name}}}` and `{{&name}}` are never
    /// escaped, nor is the template's own text.
    package enum Escaping: Sendable, Hashable {
        /// `&`, `<`, `>`, `"` and `'` become entities; safe in text and in quoted attributes.
        case html
        /// `&`, `<` and `>` become entities, which is all that Slack's text format asks.
        case slack
        /// Everything but letters, digits and `-._~` as `%XX`: the value stays within its part of a URL.
        case url
        /// As it is, for plain text.
        case none
    }

    /// How to render.
    package struct Options: Sendable {
        /// What a variable without a value does.
        package var missing: Missing
        /// The destination's escaping.
        package var escaping: Escaping
        /// The partials by name; they may name each other and themselves.
        package var partials: [String: Template]

        /// A destination must be chosen; a missing variable is an error unless said otherwise.
        package init(
            missing: Missing = .error, escaping: Escaping, partials: [String: Template] = [:]
        ) {
            self.missing = missing
            self.escaping = escaping
            self.partials = partials
        }
    }
}

extension Template.Escaping {
    /// What stands for a byte, or nil when the byte stands for itself.
    func replacement(for byte: UInt8) -> [UInt8]? {
        guard self == .url else { return entity(for: byte)?.withUTF8Buffer { Array($0) } }
        switch byte {
        case 48...57, 65...90, 97...122, 0x2d, 0x2e, 0x5f, 0x7e: return nil
        default:
            let hex = Array("0123456789ABCDEF".utf8)
            return [UInt8(ascii: "%"), hex[Int(byte >> 4)], hex[Int(byte & 15)]]
        }
    }

    private func entity(for byte: UInt8) -> StaticString? {
        switch (self, byte) {
        case (.html, UInt8(ascii: "&")), (.slack, UInt8(ascii: "&")): "&amp;"
        case (.html, UInt8(ascii: "<")), (.slack, UInt8(ascii: "<")): "&lt;"
        case (.html, UInt8(ascii: ">")), (.slack, UInt8(ascii: ">")): "&gt;"
        case (.html, UInt8(ascii: "\"")): "&quot;"
        case (.html, UInt8(ascii: "'")): "&#39;"
        case (.html, _), (.slack, _), (.url, _), (.none, _): nil
        }
    }
}
