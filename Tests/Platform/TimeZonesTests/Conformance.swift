import JSON
import TestMaterial
import Testing

extension Conformance {
    static func json(_ path: String) throws -> JSONValue {
        try JSONParser.parse(#require(bytes(of: path)), options: .webhook)
    }

    /// The strings of a JSON Schema format suite with whether each is valid.
    static func format(_ name: String) throws -> [(text: String, isValid: Bool)]? {
        guard let suite = folder("suites/json-schema-duration") else { return nil }
        let groups = try json("\(suite)/\(name).json").array ?? []
        return groups.flatMap { $0["tests"]?.array ?? [] }.compactMap { row in
            guard let text = row["data"]?.string, let isValid = row["valid"]?.bool else {
                return nil
            }
            return (text, isValid)
        }
    }
}
