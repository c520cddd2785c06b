internal import CommandLine
internal import JourneyEngine
internal import JourneyModel
internal import JourneyStorage

/// Finds the one thing that a word names: by its id, or by as much of its beginning as no other shares.
/// One rule for every verb that takes an id.
struct IDLookup<Found: Sendable>: Sendable {
    /// What is sought, such as `run`.
    let noun: String
    /// The verb that shows what there is.
    let lister: String
    /// Fewest characters of a beginning; of fewer nothing matches.
    let least: Int
    /// Whether a word can be the beginning of an id at all.
    let isBeginning: @Sendable (String) -> Bool
    let id: @Sendable (Found) -> String
    /// Those whose id begins with the word, in id order, at most so many.
    let matches: @Sendable (_ beginning: String, _ limit: Int) async throws -> [Found]

    /// Candidates that are named when a beginning is shared.
    private var shown: Int { 5 }

    /// - Throws: 4 where there is none, 2 where the beginning is too short or more than one has it.
    func find(_ word: String, _ path: [String]) async throws -> Found {
        let absent = ReplayFailure.notFound(
            "There is no \(noun) \(word) here; \(lister) shows them.")
        guard !word.isEmpty, isBeginning(word) else { throw absent }
        let found = try await matches(word, shown + 1)
        if let exact = found.first(where: { id($0) == word }) { return exact }
        if found.isEmpty, word.utf8.count < least, word[...].isHex || word.hasPrefix("evt_") {
            throw UsageError(
                path: path,
                "\(word) is too short; write at least \(least) characters of the \(noun)'s id.")
        }
        guard let first = found.first else { throw absent }
        guard found.count == 1 else {
            let some = found.prefix(shown).map(id).joined(separator: ", ")
            let rest = found.count > shown ? " and others" : ""
            throw UsageError(
                path: path,
                "More than one \(noun) begins with \(word): \(some)\(rest); write more of the one "
                    + "meant.")
        }
        return first
    }
}

/// What the verbs on effects take: an effect by itself, or all those of a run.
enum NamedEffects: Sendable {
    case effect(EffectView)
    case run(RunSummary)

    var id: String {
        switch self {
        case .effect(let effect): effect.invocation.text
        case .run(let run): run.id.text
        }
    }
}

extension LookStore {
    /// Fewest characters of an effect's or event's id.
    private static var leastBeginning: Int { 8 }

    var runLookup: IDLookup<RunSummary> {
        IDLookup(
            noun: "run", lister: "journey-replay list", least: 1,
            isBeginning: { $0.utf8.count <= 64 }, id: { $0.id.text },
            matches: { try await runs(prefix: $0, limit: $1) })
    }

    var eventLookup: IDLookup<EventView> {
        IDLookup(
            noun: "event", lister: "journey-replay events",
            least: "evt_".utf8.count + Self.leastBeginning,
            isBeginning: { word in
                word.hasPrefix("evt_") ? word.dropFirst(4).isHex : "evt_".hasPrefix(word)
            }, id: { $0.logged.event.id.text },
            matches: { word, limit in
                word.utf8.count < "evt_".utf8.count + Self.leastBeginning
                    ? [] : try await events(prefix: word, limit: limit)
            })
    }

    /// Effects by their own ids or by their run's.
    var effectLookup: IDLookup<NamedEffects> {
        IDLookup(
            noun: "effect or run", lister: "journey-replay effects", least: Self.leastBeginning,
            isBeginning: { $0.utf8.count <= 64 }, id: \.id,
            matches: { word, limit in
                var found: [NamedEffects] = []
                if word.utf8.count >= Self.leastBeginning, word[...].isHex {
                    var filter = EffectFilter()
                    filter.prefix = word
                    filter.limit = limit
                    found = try await effects(filter).map { .effect($0) }
                        .sorted { $0.id < $1.id }
                }
                return found + (try await runs(prefix: word, limit: limit).map { .run($0) })
            })
    }
}

extension Substring {
    /// Whether it is lower-case hex, as ids are.
    fileprivate var isHex: Bool {
        utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
