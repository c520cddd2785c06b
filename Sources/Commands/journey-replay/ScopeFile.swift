internal import CommandLine
internal import Configuration
internal import JSON
internal import JourneyEngine
internal import TimeZones

/// A file with a scope's top-level names, for trying parts of a definition.
struct ScopeFile {
    let scope: Scope
    /// What questions are asked of: stored events, segments, features, every subscription.
    let facts: Facts

    private static let names = [
        "event", "trigger", "customer", "steps", "run", "now", "subscription", "features", "events",
        "segments", "subscriptions",
    ]
    private static let longest = 1_048_576

    /// - Parameter time: `--at`; it wins over the file's `now`.
    init(path: String, time: Instant?, clock: Instant) throws {
        let value = try Self.value(path)
        guard let object = value.object else {
            throw ReplayFailure(
                .usage, "The scope file \(path) holds \(value.kind); write an object.")
        }
        for key in object.keys where !Self.names.contains(key) {
            throw ReplayFailure(
                .usage,
                "The scope file \(path) has \"\(key)\""
                    + Spelling.ending(for: key, among: Self.names)
                    + " A scope has \(Self.names.joined(separator: ", ")).")
        }
        var now = time ?? clock
        if time == nil, let stated = object["now"] {
            guard let instant = stated.string.flatMap({ Instant($0) }) else {
                throw ReplayFailure(
                    .usage,
                    "\"now\" in the scope file \(path) is no time; write one such as "
                        + "\"2026-11-30T10:00:00Z\".")
            }
            now = instant
        }
        func part(_ name: String) throws -> JSONObject? {
            guard let part = object[name], !part.isNull else { return nil }
            guard let inner = part.object else {
                throw ReplayFailure(
                    .usage,
                    "\"\(name)\" in the scope file \(path) is \(part.kind); write an object.")
            }
            return inner
        }
        var event = try part("event")
        let raw = event?["raw"]
        event?["raw"] = nil
        let customer = try part("customer") ?? JSONObject()
        let subscription = try part("subscription")
        let features = try part("features") ?? JSONObject()
        scope = Scope(
            event: event, raw: raw, trigger: try part("trigger"), customer: customer,
            subscription: subscription, features: features,
            steps: try part("steps") ?? JSONObject(), run: try part("run") ?? JSONObject(), now: now
        )
        let reader = ScopeFacts(path: path)
        facts = Facts(
            attributes: customer,
            subscriptions: try reader.subscriptions(object["subscriptions"], own: subscription),
            features: try reader.features(features),
            segments: try reader.segments(try part("segments") ?? JSONObject()),
            events: try reader.events(object["events"]), now: now)
    }

    /// A JSON file of any shape, with the place of what is wrong.
    static func value(_ path: String) throws -> JSONValue {
        let bytes = try BoundedFile.read(path, limit: longest)
        do {
            return try JSONParser.parse(bytes)
        } catch {
            let place = lineAndColumn(ofByte: error.offset, in: bytes)
            throw ReplayFailure(.usage, "\(path):\(place.line):\(place.column): \(error); mend it.")
        }
    }
}
