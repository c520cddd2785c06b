import Testing

/// Rows of a public suite that contradict a rule of ours, each with the rule, and rows that name what a
/// server does not do. What is listed must deviate, and nothing else may.
struct Deviations {
    private let reasons: [String: String]
    private var met: Set<String> = []

    init(_ reasons: [String: String]) { self.reasons = reasons }

    /// Compares a row with what came of it here.
    mutating func check<Answer: Equatable>(_ row: String, _ answer: Answer, _ expected: Answer) {
        if let reason = reasons[row] {
            met.insert(row)
            #expect(answer != expected, "\(row) agrees by now, although \(reason)")
        } else {
            #expect(answer == expected, "\(row)")
        }
    }

    /// Passes a listed row by that has no counterpart here; false for a row that has one.
    mutating func passesBy(_ row: String) -> Bool {
        guard reasons[row] != nil else { return false }
        met.insert(row)
        return true
    }

    /// Every listed row must have been met.
    func finish() { #expect(met == Set(reasons.keys)) }
}
