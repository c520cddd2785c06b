internal import JSON

/// Finds every key that stands twice in one object of a text that is JSON but for that; the strict
/// parser stops at the first.
struct TwinKeys {
    struct Twin {
        var key: String
        /// Byte offset of the later one.
        var offset: Int
        var pointer: JSONPointer
    }

    /// An array or object that is open at the place reached.
    private struct Container {
        var isObject: Bool
        var seen: Set<[UInt8]> = []
        /// The key or index of the part being read.
        var token = ""
        var index = 0
        var awaitsKey: Bool
    }

    private let bytes: [UInt8]
    private var open: [Container] = []
    private var twins: [Twin] = []

    /// - Parameter bytes: text that a lenient parser accepts.
    static func find(in bytes: [UInt8]) -> [Twin] {
        var search = TwinKeys(bytes: bytes)
        search.run()
        return search.twins
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func run() {
        var position = 0
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "{"): open.append(Container(isObject: true, awaitsKey: true))
            case UInt8(ascii: "["):
                open.append(Container(isObject: false, token: "0", awaitsKey: false))
            case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = open.popLast()
            case UInt8(ascii: ","): separate()
            case UInt8(ascii: "\""):
                let end = self.end(ofStringAt: position)
                if open.last?.awaitsKey == true { meet(position..<end) }
                position = end
                continue
            default: break
            }
            position += 1
        }
    }

    private mutating func separate() {
        guard var container = open.popLast() else { return }
        if container.isObject {
            container.awaitsKey = true
        } else {
            container.index += 1
            container.token = String(container.index)
        }
        open.append(container)
    }

    private mutating func meet(_ range: Range<Int>) {
        guard var container = open.popLast(),
            case .string(let key)? = try? JSONParser.parse(Array(bytes[range]))
        else { return }
        container.awaitsKey = false
        container.token = key
        let isNew = container.seen.insert(Array(key.utf8)).inserted
        open.append(container)
        if !isNew {
            let pointer = JSONPointer(tokens: open.map(\.token))
            twins.append(Twin(key: key, offset: range.lowerBound, pointer: pointer))
        }
    }

    private func end(ofStringAt start: Int) -> Int {
        var position = start + 1
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(position + 1, bytes.count)
    }
}
