/// When something that failed is tried again.
enum RetryPolicy {
    /// The longest pause that is not the server's wish, in milliseconds.
    static let longest: Int64 = 300_000

    /// Milliseconds until the next attempt: 1 s, 2 s, 4 s, … up to five minutes, and never less than the
    /// server asks for. The first pause is exact; later ones are up to half longer, so that devices which
    /// failed together do not come back together.
    ///
    /// - Parameters:
    ///   - attempts: made so far, from 1.
    ///   - random: from 0 up to 1.
    static func pause(after attempts: Int, wish: Duration?, random: Double) -> Int64 {
        let base = min(longest, 1_000 << Int64(min(max(attempts, 1) - 1, 9)))
        let own = attempts <= 1 ? base : base + Int64(Double(base) / 2 * random)
        let asked = wish.map { wish in
            let (seconds, attoseconds) = wish.components
            return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
        }
        return max(own, asked ?? 0)
    }
}
