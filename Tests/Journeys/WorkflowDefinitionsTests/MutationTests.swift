import JSON
import TestMaterial
import Testing
import WorkflowDefinitions

// Shipped workflows changed at random: reading never traps, and what it does not accept it explains.
struct MutationTests {
    private static let seeds: [UInt64] = [1, 2, 3, 4, 5, 6, 7, 8]
    private static let files = [
        "Workflows/trial-onboarding.json", "Workflows/new-subscriber-alert.json",
        "Tests/Fixtures/workflows/readme-example.json",
    ]

    private func check(_ bytes: [UInt8], _ file: String, seed: UInt64) throws {
        let outcome = WorkflowParser.read(bytes, file: file, events: sampleEvents)
        if let published = outcome.published {
            let loaded = try WorkflowParser.load(canonical: published.canonical)
            #expect(loaded == published, "seed=\(seed)")
            return
        }
        let lines = bytes.split(separator: 0x0a, omittingEmptySubsequences: false)
        #expect(outcome.diagnostics.contains { $0.severity == .error }, "seed=\(seed)")
        for diagnostic in outcome.diagnostics {
            let isInside =
                (1...lines.count).contains(diagnostic.line)
                && (1...lines[diagnostic.line - 1].count + 1).contains(diagnostic.column)
            #expect(isInside, "seed=\(seed) \(diagnostic)")
        }
    }

    @Test(arguments: seeds)
    func `changed bytes are read or explained`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for file in Self.files {
            let original = try PackageFiles.bytes(of: file)
            for _ in 0..<60 {
                var bytes = original
                for _ in 0...Int.random(in: 0..<3, using: &random) {
                    let place = Int.random(in: 0..<bytes.count, using: &random)
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                    case 1: bytes.remove(at: place)
                    case 2: bytes.insert(UInt8.random(in: 32...126, using: &random), at: place)
                    default: bytes.removeSubrange(place..<min(bytes.count, place + 20))
                    }
                }
                try check(bytes, file, seed: seed)
            }
        }
    }

    @Test(arguments: seeds)
    func `changed parts are read or explained`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for file in Self.files {
            let document = try JSONParser.parseDocument(try PackageFiles.bytes(of: file))
            let pointers = document.offsets.keys.map(\.description).sorted()
            let strange: [JSONValue?] = [
                nil, .null, true, 0, -1, "", "end", "P1D", [], ["x"], [:], ["ref": "/event/store"],
                ["literal": ["ref": 1]], ["time": ["ref": "/now"], "plus": "P1D"],
            ]
            for _ in 0..<60 {
                var changed = document.value
                for _ in 0...Int.random(in: 0..<2, using: &random) {
                    guard let to = pointers.randomElement(using: &random) else { continue }
                    let from = pointers.randomElement(using: &random) ?? ""
                    let copied = JSONPointer(from)?.resolve(in: document.value)
                    let part =
                        Bool.random(using: &random)
                        ? copied : strange.randomElement(using: &random) ?? nil
                    changed = changed.setting(to, to: part)
                }
                try check(Array(changed.pretty.utf8), file, seed: seed)
            }
        }
    }
}
