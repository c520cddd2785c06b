/// Finds the word that a misspelt one was probably meant to be.
package enum Spelling {
    /// The known word nearest to `word`, or nil when none is near enough to suggest.
    ///
    /// Near means at most a third of the letters inserted, removed, changed or swapped with their
    /// neighbour, at least one and at most three; case does not count. Of equally near words the
    /// first in `known` is taken. Words past 64 bytes are not compared.
    package static func nearestWord(to word: String, among known: some Sequence<String>) -> String?
    {
        let wanted = folded(word)
        guard !wanted.isEmpty, wanted.count <= 64 else { return nil }
        var best: (word: String, distance: Int)?
        let limit = min(3, max(1, wanted.count / 3))
        for candidate in known {
            let letters = folded(candidate)
            guard letters.count <= 64, abs(letters.count - wanted.count) <= limit else { continue }
            let distance = distance(wanted, letters)
            // A word changed in every letter is no likeness, however short it is.
            guard distance <= limit, distance < max(wanted.count, letters.count) else { continue }
            if distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.word
    }

    /// The end of a sentence about an unknown word: `; did you mean "x"?`, or a full stop.
    package static func ending(for word: String, among known: some Sequence<String>) -> String {
        nearestWord(to: word, among: known).map { "; did you mean \"\($0)\"?" } ?? "."
    }

    private static func folded(_ word: String) -> [UInt8] {
        word.utf8.map { (65...90).contains($0) ? $0 | 0x20 : $0 }
    }

    /// Optimal string alignment: edits of one letter, and swaps of two neighbours.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var before: [Int] = []
        var previous = Array(0...right.count)
        for row in 0..<left.count {
            var current = [row + 1]
            for column in 0..<right.count {
                let change = previous[column] + (left[row] == right[column] ? 0 : 1)
                var least = min(change, previous[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1],
                    left[row - 1] == right[column]
                {
                    least = min(least, before[column - 1] + 1)
                }
                current.append(least)
            }
            before = previous
            previous = current
        }
        return previous[right.count]
    }
}
