/// The members of a JSON object, in the order of the text; keys are compared by their bytes.
package struct JSONObject: Sendable {
    /// Keys with their values; no key twice.
    package private(set) var members: [(key: String, value: JSONValue)]

    /// An object without members.
    package init() { members = [] }

    /// Takes members as they are; the caller sees to it that no key stands twice.
    package init(_ members: [(key: String, value: JSONValue)]) { self.members = members }

    /// How many members there are.
    package var count: Int { members.count }
    /// Whether there are none.
    package var isEmpty: Bool { members.isEmpty }
    /// The keys in the order of the text.
    package var keys: [String] { members.map(\.key) }

    /// Reads the last member with this key, by walking the members; sets in place, appends, or removes with nil.
    package subscript(key: String) -> JSONValue? {
        get { members.last { $0.key.hasSameBytes(as: key) }?.value }
        set {
            let index = members.lastIndex { $0.key.hasSameBytes(as: key) }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append((key, value))
            case (nil, nil): break
            }
        }
    }
}

extension JSONObject: Hashable {
    /// Equal when the same keys hold equal values, in whatever order. Takes time in proportion to the
    /// members, so that hostile objects may be compared.
    package static func == (left: JSONObject, right: JSONObject) -> Bool {
        guard left.count == right.count else { return false }
        let isSameOrder = zip(left.members, right.members).allSatisfy {
            $0.key.hasSameBytes(as: $1.key)
        }
        if isSameOrder {
            return zip(left.members, right.members).allSatisfy { $0.value == $1.value }
        }
        if left.count <= 16 { return left.members.allSatisfy { right[$0.key] == $0.value } }
        var values: [[UInt8]: JSONValue] = [:]
        for member in right.members { values[Array(member.key.utf8)] = member.value }
        return left.members.allSatisfy { values[Array($0.key.utf8)] == $0.value }
    }

    /// Does not depend on the order either.
    package func hash(into hasher: inout Hasher) {
        // A sum of the members' hashes does not depend on their order.
        var sum = 0
        for member in members {
            var inner = Hasher()
            member.key.hashBytes(into: &inner)
            inner.combine(member.value)
            sum &+= inner.finalize()
        }
        hasher.combine(members.count)
        hasher.combine(sum)
    }
}

extension JSONObject: Sequence {
    /// The members in the order of the text.
    package func makeIterator() -> IndexingIterator<[(key: String, value: JSONValue)]> {
        members.makeIterator()
    }
}
