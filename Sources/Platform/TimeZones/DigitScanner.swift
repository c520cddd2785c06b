func twoDigits(_ value: Int) -> String { digits(value, width: 2) }

func digits(_ value: Int, width: Int) -> String {
    let text = String(value)
    return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
}

/// Takes fixed-width digits and marks off the front of an ASCII text.
struct DigitScanner {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text[...].utf8 }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func take(_ mark: Character) -> Bool {
        guard let byte = mark.asciiValue, rest.first == byte else { return false }
        rest = rest.dropFirst()
        return true
    }

    mutating func digits(_ count: Int) -> Int? {
        let run = rest.prefix(count)
        guard run.count == count, run.allSatisfy({ $0 >= 48 && $0 <= 57 }) else { return nil }
        rest = rest.dropFirst(count)
        return run.reduce(0) { $0 * 10 + Int($1 - 48) }
    }

    /// One or more fraction digits as milliseconds, further ones cut.
    mutating func fraction() -> Int? {
        let run = rest.prefix { $0 >= 48 && $0 <= 57 }
        guard !run.isEmpty else { return nil }
        rest = rest.dropFirst(run.count)
        let three = run.prefix(3).reduce(0) { $0 * 10 + Int($1 - 48) }
        return [100, 10, 1][min(run.count, 3) - 1] * three
    }

    /// `Z` or `±hh:mm`, in seconds ahead of UTC.
    mutating func offset() -> Int? {
        if take("Z") || take("z") { return 0 }
        let sign: Int
        if take("+") {
            sign = 1
        } else if take("-") {
            sign = -1
        } else {
            return nil
        }
        guard let hours = digits(2), hours < 24, take(":"), let minutes = digits(2), minutes < 60
        else { return nil }
        return sign * (hours * 3_600 + minutes * 60)
    }
}
