internal import CommandLine
internal import JSON
internal import TimeZones

/// Which objects a verb is about: ids, `-` for ids on standard input, and `--where` terms that all
/// must hold.
struct Selector: Sendable, Hashable {
    /// What a term may speak of; each verb knows some of them.
    enum Term: String, Sendable, Hashable, CaseIterable {
        case workflow, version, status, customer, connector, event, step, error, key, environment
        case since, until, who, verb
    }

    /// In the order given, each once.
    var ids: [String] = []
    var terms: [Term: String] = [:]
    var since: Instant?
    var until: Instant?
    var limit: Int

    /// Ids that one call takes.
    static let mostIDs = 10_000

    /// - Parameter lists: whether rows are listed, of which there is a most; a change is whole.
    static func options(_ terms: [Term], lists: Bool = true) -> [OptionSpecification] {
        let words = terms.map { $0 == .since ? "since=2h" : "\($0.rawValue)=" }
        let terms = OptionSpecification(
            "where", valueName: "TERMS",
            help: "terms that all must hold: " + words.joined(separator: " "), repeats: true)
        let limit = OptionSpecification(
            "limit", valueName: "N", help: "most rows, 1 to 10000; 100 when left out")
        return lists ? [terms, limit] : [terms]
    }

    /// - Parameters:
    ///   - words: the positional ids.
    ///   - known: the terms of this verb.
    ///   - statuses: the words that `status=` takes.
    init(
        _ words: [String], _ parsed: ParsedCommand, known: [Term], statuses: [String], now: Instant,
        inputLine: () -> String?
    ) throws(UsageError) {
        limit = try parsed.integer("limit", in: 1...10_000) ?? 100
        var seen: Set<String> = []
        func add(_ id: String) throws(UsageError) {
            guard !id.isEmpty, seen.insert(id).inserted else { return }
            try Self.check(id, parsed.path)
            guard ids.count < Self.mostIDs else {
                throw UsageError(
                    path: parsed.path, "More than \(Self.mostIDs) ids were given; use --where.")
            }
            ids.append(id)
        }
        for word in words {
            guard word == "-" else {
                try add(word)
                continue
            }
            while let line = inputLine() { try add(line.trimmed) }
        }
        for (name, value) in parsed.all("where").flatMap(Self.split) {
            try take(name, value, parsed.path, known, statuses, now)
        }
    }

    /// Refuses what can be nobody's id, before it is sent anywhere.
    static func check(_ id: String, _ path: [String]) throws(UsageError) {
        guard id.utf8.contains(0) || id.utf8.count > longestID else { return }
        throw UsageError(
            path: path,
            "The id \"\(id.prefix(32))\"… holds a NUL character or is longer than \(longestID) bytes; "
                + "give ids as another verb prints them with -o ids.")
    }

    private static let longestID = 1_024

    private mutating func take(
        _ name: String, _ value: String, _ path: [String], _ known: [Term],
        _ statuses: [String], _ now: Instant
    ) throws(UsageError) {
        let names = known.map(\.rawValue)
        guard let term = Term(rawValue: name), known.contains(term) else {
            throw UsageError(
                path: path,
                "\(path.joined(separator: " ")) knows no term \"\(name.prefix(64))=\""
                    + Spelling.ending(for: name, among: names)
                    + " Use \(names.joined(separator: ", ")).")
        }
        guard !value.isEmpty else {
            throw UsageError(path: path, "The term \(name)= needs a value.")
        }
        try Self.check(value, path)
        switch term {
        case .since: since = try Self.instant(value, before: now, term, path)
        case .until: until = try Self.instant(value, before: now, term, path)
        case .version:
            guard let number = Int(value), number > 0 else {
                throw UsageError(path: path, "version= needs a number from 1, not \"\(value)\".")
            }
            terms[term] = value
        case .status:
            guard statuses.contains(value) else {
                throw UsageError(
                    path: path,
                    "No status is \"\(value.prefix(64))\""
                        + Spelling.ending(for: value, among: statuses)
                        + " Use \(statuses.joined(separator: ", ")).")
            }
            terms[term] = value
        case .workflow, .customer, .connector, .event, .step, .error, .key, .environment, .who,
            .verb:
            terms[term] = value
        }
    }

    subscript(term: Term) -> String? { terms[term] }

    /// `a=b c=d`; a value may hold blanks, since a term begins only where a known word and `=` stand.
    static func split(_ text: String) -> [(name: String, value: String)] {
        var found: [(name: String, value: String)] = []
        for word in text.split(separator: " ") {
            let name = String(word.prefix { $0 != "=" })
            let isTerm = name.count < word.count && (found.isEmpty || Term(rawValue: name) != nil)
            if isTerm {
                found.append((name, String(word.dropFirst(name.count + 1))))
            } else if let last = found.popLast() {
                found.append((last.name, "\(last.value) \(word)"))
            } else {
                found.append((name, ""))
            }
        }
        return found
    }

    /// A time, or so long ago: `2h`, `90m`, `7d`, `1w`, `30s`, or an ISO 8601 duration.
    private static func instant(
        _ text: String, before now: Instant, _ term: Term, _ path: [String]
    ) throws(UsageError) -> Instant {
        if let instant = Instant(text) { return instant }
        if let duration = Duration(iso8601: text) { return now - duration }
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800]
        if let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()),
            (0...1_000_000).contains(count)
        {
            return now - .seconds(count * unit)
        }
        throw UsageError(
            path: path,
            "\(term.rawValue)= needs a time such as 2026-11-30T10:00:00Z or an age such as 2h, not "
                + "\"\(text.prefix(64))\".")
    }
}

extension String {
    fileprivate var trimmed: String {
        let start = drop { $0.isWhitespace }
        return String(start.reversed().drop { $0.isWhitespace }.reversed())
    }
}
