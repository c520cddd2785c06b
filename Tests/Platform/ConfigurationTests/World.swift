import Configuration
import FoundationEssentials
import JSON

/// What a reading of `text` gives: the value, or all problems by their descriptions.
func reading<Value>(
    _ text: String, environment: [String: String] = [:], ignoring: Set<String> = [],
    _ body: (ConfigurationReader) -> Value
) -> (value: Value?, problems: [String]) {
    let source = ConfigurationSource(
        bytes: Array(text.utf8), environment: environment, place: "test.json", ignoring: ignoring)
    do {
        return (try source.read(body), [])
    } catch {
        return (nil, error.problems.map(\.description))
    }
}

/// A directory of the test's own, removed afterwards.
func withDirectory(_ body: (String) throws -> Void) throws {
    let directory = FileManager.default.temporaryDirectory.path + "/settings-" + UUID().uuidString
    try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try body(directory)
}

func write(_ text: String, _ path: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
}
