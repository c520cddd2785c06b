import FoundationEssentials
import JSON

/// Public conformance data, which lies beside the package when it is there at all.
enum Conformance {
    /// The directory of a suite, or nil after a line that says it is absent.
    static func suite(_ name: String) -> String? {
        var parts = #filePath.split(separator: "/").dropLast(4)
        while !parts.isEmpty {
            parts.removeLast()
            let directory =
                (["", String(parts.joined(separator: "/"))] + ["shared/conformance/suites"])
                .joined(separator: "/") + "/" + name
            if FileManager.default.fileExists(atPath: directory) { return directory }
        }
        print("skipped: the conformance suite \(name) is not on this machine")
        return nil
    }

    static func names(in directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
    }

    static func bytes(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    }
}

/// SplitMix64, so that a failure's seed brings it back.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
