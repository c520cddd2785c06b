internal import JSON

/// The first place where two JSON values differ.
struct JSONDifference: Sendable, Hashable {
    var place: JSONPointer
    /// Nil where one side has nothing.
    var expected: JSONValue?
    var actual: JSONValue?

    /// Nil when the values are the same.
    init?(_ expected: JSONValue?, _ actual: JSONValue?, at place: JSONPointer = JSONPointer()) {
        switch (expected, actual) {
        case (nil, nil): return nil
        case (.object(let left)?, .object(let right)?):
            for key in left.keys + right.keys.filter({ left[$0] == nil }) {
                if let found = JSONDifference(left[key], right[key], at: place.appending(key)) {
                    self = found
                    return
                }
            }
            return nil
        case (.array(let left)?, .array(let right)?):
            for index in 0..<max(left.count, right.count) {
                let pair = [left, right].map { $0.indices.contains(index) ? $0[index] : nil }
                if let found = JSONDifference(pair[0], pair[1], at: place.appending(index)) {
                    self = found
                    return
                }
            }
            return nil
        case (let expected, let actual):
            if expected == actual { return nil }
            self.place = place
            self.expected = expected
            self.actual = actual
        }
    }
}
