// Reads TZif, the compiled form of tzdata (RFC 8536), versions 2 to 4. The bytes may come from
// anywhere, so every count is checked against the length before it is used.

extension TimeZoneRules {
    /// Reads the rules of a zone from the bytes of its TZif file.
    ///
    /// - Parameters:
    ///   - name: kept as ``name``; not looked for in the bytes.
    ///   - version: the release of tzdata the file belongs to.
    /// - Throws: ``TimeZoneProblem/damagedFile(name:reason:)``.
    package init(
        name: String, version: String, timeZoneFile bytes: [UInt8]
    ) throws(TimeZoneProblem) {
        let file = TimeZoneFile(bytes: bytes)
        do throws(TimeZoneFile.Damage) {
            self = try file.rules(name: name, version: version)
        } catch {
            throw .damagedFile(name: name, reason: error.reason)
        }
    }
}

private struct TimeZoneFile {
    struct Damage: Error { let reason: String }

    struct Header {
        let version: UInt8
        let standardIndicators: Int
        let universalIndicators: Int
        let leapSeconds: Int
        let transitions: Int
        let types: Int
        let letters: Int

        /// The length of the block that follows, with times of `width` bytes.
        func blockLength(width: Int) -> Int {
            transitions * (width + 1) + types * 6 + letters + leapSeconds * (width + 4)
                + standardIndicators + universalIndicators
        }
    }

    let bytes: [UInt8]
    static let headerLength = 44

    func rules(name: String, version: String) throws(Damage) -> TimeZoneRules {
        let old = try header(at: 0)
        guard old.version >= UInt8(ascii: "2") else {
            throw Damage(reason: "it is of the first format, which ends in 2037")
        }
        let place = Self.headerLength + old.blockLength(width: 4)
        let new = try header(at: place)
        guard new.leapSeconds == 0 else {
            throw Damage(reason: "it counts leap seconds; use the plain files, not those of right/")
        }
        let block = place + Self.headerLength
        let length = new.blockLength(width: 8)
        guard block + length <= bytes.count else { throw Damage(reason: "it ends too early") }
        let typesAt = block + new.transitions * 9
        let offsets = try (0..<new.types).map { (index) throws(Damage) -> Int in
            let offset = Int(Int32(truncatingIfNeeded: integer(at: typesAt + index * 6, width: 4)))
            guard abs(offset) < 90_000 else { throw Damage(reason: "an offset is past 25 hours") }
            return offset
        }
        guard let first = offsets.first else { throw Damage(reason: "it holds no offset") }
        var starts: [TimeZoneRules.Start] = []
        for index in 0..<new.transitions {
            let second = Int64(truncatingIfNeeded: integer(at: block + index * 8, width: 8))
            let type = Int(bytes[block + new.transitions * 8 + index])
            guard second.magnitude <= 1 << 59 else {
                throw Damage(reason: "a transition is absurd")
            }
            guard type < offsets.count else { throw Damage(reason: "it names an offset it lacks") }
            if let last = starts.last, last.second >= second {
                throw Damage(reason: "its transitions are out of order")
            }
            starts.append(TimeZoneRules.Start(second: second, offset: offsets[type]))
        }
        return TimeZoneRules(
            name: name, version: version, starts: starts, firstOffset: first,
            footer: try footer(at: block + length))
    }

    /// The POSIX TZ string between two line ends; an empty one means that no rule is known.
    private func footer(at place: Int) throws(Damage) -> RecurringRule? {
        guard place < bytes.count, bytes[place] == 10,
            let end = bytes[(place + 1)...].firstIndex(of: 10)
        else { throw Damage(reason: "it has no footer") }
        let text = String(decoding: bytes[(place + 1)..<end], as: UTF8.self)
        if text.isEmpty { return nil }
        guard let rule = RecurringRule(text) else {
            throw Damage(reason: "its rule for the future cannot be read")
        }
        return rule
    }

    private func header(at place: Int) throws(Damage) -> Header {
        guard place + Self.headerLength <= bytes.count,
            bytes[place..<place + 4].elementsEqual("TZif".utf8)
        else { throw Damage(reason: "it is no TZif file") }
        func count(_ index: Int) throws(Damage) -> Int {
            let value = integer(at: place + 20 + index * 4, width: 4)
            // More than any file could hold; keeps the sums below from overflowing.
            guard value <= 1 << 20 else { throw Damage(reason: "a count in it is absurd") }
            return Int(value)
        }
        return Header(
            version: bytes[place + 4], standardIndicators: try count(1),
            universalIndicators: try count(0), leapSeconds: try count(2),
            transitions: try count(3), types: try count(4), letters: try count(5))
    }

    /// Big-endian; the caller has checked the bounds.
    private func integer(at place: Int, width: Int) -> UInt64 {
        bytes[place..<place + width].reduce(0) { $0 << 8 | UInt64($1) }
    }
}
