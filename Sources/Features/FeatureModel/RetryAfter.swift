/// How long a server asks to be left alone, as its header `Retry-After` says it.
package struct RetryAfter: Sendable, Hashable {
    /// 0 to ``longest``.
    package let milliseconds: Int64

    /// A day: nobody is told to wait longer, and a header that says so is held here.
    package static let longest: Int64 = 86_400_000

    /// So many milliseconds, held within its bounds.
    package init(milliseconds: Int64) {
        self.milliseconds = min(max(milliseconds, 0), Self.longest)
    }

    /// Reads seconds, whole or with a fraction; nil for anything else, a date among it.
    package init?(header: String) {
        let parts = header.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, !whole.isEmpty, whole.utf8.count <= 9,
            whole.utf8.allSatisfy({ (48...57).contains($0) }), let seconds = Int64(whole)
        else { return nil }
        var thousandths: Int64 = 0
        if parts.count == 2 {
            guard !parts[1].isEmpty, parts[1].utf8.allSatisfy({ (48...57).contains($0) }) else {
                return nil
            }
            let digits = String((parts[1] + "000").prefix(3))
            thousandths = Int64(digits) ?? 0
        }
        self.init(milliseconds: seconds * 1_000 + thousandths)
    }

    /// Whole seconds, rounded up: a client that waits so long is never early.
    package var header: String { String((milliseconds + 999) / 1_000) }

    /// How long the first retry waits: a second at least, and never less than the server asks for.
    package var firstDelayMilliseconds: Int64 { max(1_000, milliseconds) }
}
