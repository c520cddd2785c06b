import Testing

/// The arrows of the house: what is declared is what is imported, and no arrow runs where it must not.
@Suite struct MapTests {
    let map: HouseMap

    init() throws { map = HouseMap(manifest: try SourceTree.text(of: "Package.swift")) }

    static let pureRooms = [
        "JSON", "JourneyModel", "Templates", "WorkflowDefinitions", "JourneyEngine", "Connectors",
        "JourneyTurns", "Simulation", "WorkflowDrawings", "FeatureModel",
    ]

    @Test func `the manifest is read whole`() throws {
        #expect(map.rooms.count > 25)
        #expect(map.room(named: "JourneyTurns")?.sees.contains("JourneyEngine") == true)
        let folders = try ["Platform", "Journeys", "Commands"].flatMap { floor in
            try SourceTree.entries(of: "Sources/\(floor)")
        }
        let missing = folders.filter { map.room(named: $0) == nil && $0 != "CCurl" }
        #expect(missing.isEmpty, "folders that are no room: \(missing)")
    }

    @Test func `every import is declared in the map`() throws {
        let outside: Set<String> = [
            "Glibc", "Synchronization", "FoundationEssentials", "Testing", "PackageDescription",
        ]
        // What the SDK takes of the platforms it runs on.
        let ofPlatforms: Set<String> = [
            "Foundation", "FoundationNetworking", "Darwin", "Combine", "StoreKit",
        ]
        for room in map.rooms where SourceTree.exists(room.path) {
            for file in try SourceTree.files(under: room.path, ending: ".swift") {
                for name in imports(of: file) where !outside.contains(name) {
                    if room.name == "Nuxie", ofPlatforms.contains(name) { continue }
                    if name == "SwiftUI", file.name == "PremiumView.swift" { continue }
                    #expect(
                        room.sees.contains(name) || room.sees.contains(commandName(name)),
                        "\(file.path) imports \(name), which its line in Package.swift does not name"
                    )
                }
            }
        }
    }

    @Test func `every arrow is used`() throws {
        for room in map.rooms where SourceTree.exists(room.path) {
            let used = Set(
                try SourceTree.files(under: room.path, ending: ".swift").flatMap { imports(of: $0) }
            )
            let programs = ["journey-", "feature-"]
            for name in room.sees where !programs.contains(where: { name.hasPrefix($0) }) {
                #expect(used.contains(name), "\(room.name) sees \(name) and never imports it")
            }
        }
    }

    @Test func `platform rooms see only platform rooms, and no room sees a command`() {
        for room in map.rooms where ["Platform", "Journeys", "Features"].contains(room.floor) {
            for name in room.sees {
                let floor = map.room(named: name)?.floor ?? "Platform"
                #expect(floor != "Commands", "\(room.name) sees the command \(name)")
                if room.floor == "Platform" { #expect(floor == "Platform") }
            }
        }
    }

    @Test func `no way leads from the journey side to the ledger`() {
        #expect(wayToLedger(in: map) == nil)
    }

    @Test func `a way to the ledger would be found, through any number of rooms`() {
        let broken = HouseMap(rooms: [
            .init(name: "JourneyTurns", floor: "Journeys", path: "", sees: ["Between"]),
            .init(name: "Between", floor: "Features", path: "", sees: ["FeatureLedger"]),
            .init(name: "FeatureLedger", floor: "Features", path: "", sees: []),
        ])
        #expect(wayToLedger(in: broken) == ["JourneyTurns", "Between", "FeatureLedger"])
    }

    @Test func `the houses meet in two rooms, and the ledger sees no journey`() {
        let doors: Set<String> = ["FeatureModel", "FeatureReading"]
        for room in map.rooms {
            for name in room.sees {
                let floor = map.room(named: name)?.floor
                if room.floor == "Journeys", floor == "Features" {
                    #expect(doors.contains(name), "\(room.name) sees \(name)")
                }
                if room.floor == "Features" {
                    #expect(floor != "Journeys", "\(room.name) sees \(name)")
                }
            }
        }
        #expect(map.room(named: "FeatureModel")?.sees == ["JSON"])
    }

    @Test func `the reader's room holds no word that writes`() throws {
        let verbs = ["insert into", "update ", "delete from", "truncate", "for update", "call "]
        for file in try SourceTree.files(
            under: "Sources/Features/FeatureReading", ending: ".swift")
        {
            for (number, line) in file.lines.enumerated() where !line.trimmed.hasPrefix("//") {
                for verb in verbs where line.lowercased().contains(verb) {
                    Issue.record("\(file.path):\(number + 1) says \(verb)")
                }
            }
        }
    }

    @Test func `only what the SDK ships is public`() throws {
        for file in try SourceTree.files(under: "Sources", ending: ".swift")
        where !file.path.hasPrefix("Sources/Features/FeatureModel/")
            && !file.path.hasPrefix("Sources/Features/Nuxie/")
        {
            for (number, line) in file.lines.enumerated() where line.trimmed.hasPrefix("public ") {
                Issue.record("\(file.path):\(number + 1) is public")
            }
        }
    }

    private func wayToLedger(in map: HouseMap) -> [String]? {
        map.rooms.filter {
            $0.floor == "Journeys" || ["journey-worker", "journey-replay"].contains($0.name)
        }
        .lazy.compactMap { map.path(from: $0.name, to: "FeatureLedger") }.first
    }

    // S19.6
    @Test func `pure rooms have no clock, random source, input, output or async code`() throws {
        let forbiddenImports = ["Glibc", "FoundationEssentials", "Foundation", "Synchronization"]
        let forbiddenWords = [
            "async", "await", "ContinuousClock", "SystemRandomNumberGenerator", ".random(",
            "randomBytes", "TimeZoneDatabase", "Date(", "getenv",
        ]
        for name in Self.pureRooms {
            guard let room = map.room(named: name) else { continue }
            for file in try SourceTree.files(under: room.path, ending: ".swift") {
                for name in imports(of: file) { #expect(!forbiddenImports.contains(name)) }
                for (number, line) in file.lines.enumerated() {
                    let code = line.firstRange(of: "//").map { line[..<$0.lowerBound] } ?? line
                    for word in forbiddenWords where holds(code, word) {
                        Issue.record("\(file.path):\(number + 1) uses \(word) in a pure room")
                    }
                }
            }
        }
    }

    /// A command's target has a dash where its module has an underscore.
    private func commandName(_ module: String) -> String {
        String(module.map { $0 == "_" ? "-" : $0 })
    }

    /// Whether code holds a word that is not part of a longer one or of a string.
    private func holds(_ code: Substring, _ word: String) -> Bool {
        guard let range = code.firstRange(of: word) else { return false }
        let before = code[..<range.lowerBound].last
        let after = code[range.upperBound...].first
        let isPart: (Character?) -> Bool = { $0.map { $0.isLetter || $0 == "\"" } ?? false }
        if word.first?.isLetter == true, isPart(before) { return false }
        return !(word.last?.isLetter == true && isPart(after))
    }

    private func imports(of file: SourceTree.File) -> [String] {
        file.lines.compactMap { line in
            var words = line.split(separator: " ")
            while let first = words.first,
                [
                    "package", "public", "internal", "private", "fileprivate", "@testable",
                    "@_exported",
                ].contains(first)
            { words.removeFirst() }
            guard words.first == "import", words.count >= 2 else { return nil }
            return String(words[words.count - 1])
        }
    }
}
