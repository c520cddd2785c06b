/// The rooms and arrows that `Package.swift` declares.
struct HouseMap {
    struct Room {
        let name: String
        /// `Platform`, `Journeys`, `Features`, `Commands`, or `Tests`.
        let floor: String
        let path: String
        let sees: [String]
    }

    let rooms: [Room]

    init(rooms: [Room]) { self.rooms = rooms }

    /// Reads the manifest's own words: `room("A", in: "Floor", sees: ["B"])`, `command(…)`, `tests(…)`.
    init(manifest: String) {
        var rooms: [Room] = []
        for (word, floor) in [
            ("    room(\"", nil), ("    command(\"", "Commands"), ("    tests(\"", "Tests"),
            ("    library(\"", "Platform"),
        ] as [(String, String?)] {
            for call in Self.calls(of: word, in: manifest) {
                let strings = Self.strings(in: call)
                guard let name = strings.first else { continue }
                let named = call.contains("in: \"") ? strings.dropFirst().first : nil
                let list = Self.list(after: "sees: [", in: call)
                let path =
                    switch floor {
                    case "Tests": named.map { "Tests/\($0)/\(name)" } ?? "Tests/\(name)"
                    case let floor?: "Sources/\(floor)/\(name)"
                    case nil: "Sources/\(named ?? "")/\(name)"
                    }
                rooms.append(
                    Room(name: name, floor: floor ?? named ?? "", path: path, sees: list))
            }
        }
        self.rooms = rooms
    }

    func room(named name: String) -> Room? { rooms.first { $0.name == name } }

    /// A path of arrows from one room to another, both ends included; nil when there is none.
    func path(from start: String, to end: String) -> [String]? {
        var trail: [String: String] = [:]
        var seen: Set<String> = [start]
        var open = [start]
        while !open.isEmpty {
            let name = open.removeFirst()
            if name == end {
                var path = [name]
                while let last = path.first, let before = trail[last] { path.insert(before, at: 0) }
                return path
            }
            for next in room(named: name)?.sees ?? [] where seen.insert(next).inserted {
                trail[next] = name
                open.append(next)
            }
        }
        return nil
    }

    private static func calls(of word: String, in text: String) -> [String] {
        var calls: [String] = []
        var rest = Substring(text)
        while let start = rest.firstRange(of: word) {
            var depth = 0
            var end = rest.endIndex
            for index in rest[start.lowerBound...].indices {
                if rest[index] == "(" { depth += 1 }
                if rest[index] == ")" {
                    depth -= 1
                    if depth == 0 {
                        end = rest.index(after: index)
                        break
                    }
                }
            }
            calls.append(String(rest[start.lowerBound..<end]))
            rest = rest[end...]
        }
        return calls
    }

    private static func strings(in text: String) -> [String] {
        text.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }

    private static func list(after word: String, in call: String) -> [String] {
        guard let start = call.firstRange(of: word),
            let end = call[start.upperBound...].firstIndex(of: "]")
        else { return [] }
        return strings(in: String(call[start.upperBound..<end]))
    }
}

extension StringProtocol {
    /// The first place where `sought` stands.
    func firstRange(of sought: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(sought) {
                return start..<index(start, offsetBy: sought.count)
            }
            start = index(after: start)
        }
        return nil
    }
}
