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

    static func json(_ path: String) throws -> JSONValue {
        let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        return try JSONParser.parse(bytes, options: .webhook)
    }

    /// The strings of a JSON Schema format suite with whether each is valid.
    static func format(_ name: String) throws -> [(text: String, isValid: Bool)]? {
        guard let suite = suite("json-schema-duration") else { return nil }
        let groups = try json("\(suite)/\(name).json").array ?? []
        return groups.flatMap { $0["tests"]?.array ?? [] }.compactMap { row in
            guard let text = row["data"]?.string, let isValid = row["valid"]?.bool else {
                return nil
            }
            return (text, isValid)
        }
    }
}
