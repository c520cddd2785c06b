/// Finds a key that was seen before: by walking a few members, by a dictionary past 63, so that
/// a hostile object of a hundred thousand keys costs no more than its length.
struct KeySet {
    private var index: [[UInt8]: Int] = [:]

    /// The place of an earlier equal key, or nil after noting this one.
    mutating func insert(
        _ key: String, at place: Int, among members: [(key: String, value: JSONValue)]
    ) -> Int? {
        if place < 64 {
            let length = key.utf8.count
            return members.firstIndex {
                $0.key.utf8.count == length && $0.key.hasSameBytes(as: key)
            }
        }
        if index.isEmpty {
            for (place, member) in members.enumerated() { index[Array(member.key.utf8)] = place }
        }
        let bytes = Array(key.utf8)
        if let earlier = index[bytes] { return earlier }
        index[bytes] = place
        return nil
    }
}
