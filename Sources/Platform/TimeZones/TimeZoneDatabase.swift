internal import Glibc
internal import Locks

/// Why the rules of a zone cannot be had.
package enum TimeZoneProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name has not the form of a zone's name; nothing was looked up.
    case badName(String)
    /// There is no such zone in the database.
    case unknownZone(name: String, directory: String)
    /// A file of the database cannot be read.
    case unreadable(path: String, reason: String)
    /// A file of the database is not what it should be.
    case damagedFile(name: String, reason: String)

    /// One sentence with the next step.
    package var description: String {
        switch self {
        case .badName(let name):
            "\"\(String(name.prefix(64)))\" is no name of a time zone; "
                + "write one such as Europe/Berlin or Etc/UTC."
        case .unknownZone(let name, let directory):
            "There is no time zone \"\(name)\" in \(directory); "
                + "check the spelling, or install a newer tzdata."
        case .unreadable(let path, let reason):
            "\(path) cannot be read: \(reason); install the package tzdata or name its directory."
        case .damagedFile(let name, let reason):
            "The tzdata file of \"\(name)\" is damaged: \(reason); install tzdata again."
        }
    }
}

/// The installed tzdata: the only part of this room that reads files.
///
/// Rules are read once and kept; there are some six hundred names, so the store is bounded. A
/// database does not notice a newer tzdata: open another to take it up.
package final class TimeZoneDatabase: Sendable {
    /// Where the compiled zones lie.
    package let directory: String
    /// The release, such as `2025b`; `unknown` when the directory does not say.
    package let version: String
    /// All names the directory lists, links too, in order; empty when it has no list.
    package let names: [String]

    private let known = Guarded<[String: TimeZoneRules]>([:])
    private static let zoneFileLimit = 65_536
    private static let listFileLimit = 1_048_576

    /// Opens a directory of compiled zones.
    ///
    /// - Throws: ``TimeZoneProblem/unreadable(path:reason:)`` when it has not even `UTC`.
    package init(directory: String = "/usr/share/zoneinfo") throws(TimeZoneProblem) {
        self.directory = directory
        let list = (try? Self.read(directory + "/tzdata.zi", limit: Self.listFileLimit)) ?? []
        let lines = list.split(separator: 10).map { String(decoding: $0, as: UTF8.self) }
        names = Self.names(in: lines)
        version = Self.version(in: directory, list: lines.first)
        _ = try Self.read(directory + "/UTC", limit: Self.zoneFileLimit)
    }

    /// The rules of the zone with this name.
    ///
    /// - Throws: ``TimeZoneProblem``; a bad name touches no file.
    package func rules(named name: String) throws(TimeZoneProblem) -> TimeZoneRules {
        if let rules = known.withLock({ $0[name] }) { return rules }
        guard TimeZoneRules.isName(name) else { throw .badName(name) }
        let bytes: [UInt8]
        do {
            bytes = try Self.read(directory + "/" + name, limit: Self.zoneFileLimit)
        } catch {
            if case .unreadable(_, let reason) = error, reason == Self.absent {
                throw .unknownZone(name: name, directory: directory)
            }
            throw error
        }
        let rules = try TimeZoneRules(name: name, version: version, timeZoneFile: bytes)
        known.withLock { $0[name] = rules }
        return rules
    }

    /// `Z Name …` and `L target Name` lines.
    private static func names(in lines: [String]) -> [String] {
        lines.compactMap { line in
            let words = line.split(separator: " ")
            if words.first == "Z", words.count > 1 { return String(words[1]) }
            if words.first == "L", words.count > 2 { return String(words[2]) }
            return nil
        }.filter(TimeZoneRules.isName).sorted()
    }

    private static func version(in directory: String, list first: String?) -> String {
        let mark = "# version "
        if let first, first.hasPrefix(mark) {
            return String(first.dropFirst(mark.count).prefix(32))
        }
        for name in ["+VERSION", "version"] {
            guard let bytes = try? read(directory + "/" + name, limit: 64) else { continue }
            let word = bytes.prefix { $0 > 32 && $0 < 127 }
            if !word.isEmpty { return String(decoding: word, as: UTF8.self) }
        }
        return "unknown"
    }

    private static let absent = "it does not exist"

    /// Reads a regular file that must not be longer than `limit`.
    private static func read(_ path: String, limit: Int) throws(TimeZoneProblem) -> [UInt8] {
        // O_NONBLOCK: a pipe laid in the way must not hang the reader.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            let isAbsent = errno == ENOENT || errno == ENOTDIR
            throw .unreadable(
                path: path, reason: isAbsent ? absent : String(cString: strerror(errno)))
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .unreadable(path: path, reason: absent)
        }
        guard status.st_size <= limit else {
            throw .unreadable(path: path, reason: "it is longer than \(limit) bytes")
        }
        var bytes = [UInt8](repeating: 0, count: limit)
        var count = 0
        while count < limit {
            let got = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(descriptor, buffer.baseAddress.map { $0 + count }, limit - count)
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else {
                throw .unreadable(path: path, reason: String(cString: strerror(errno)))
            }
            if got == 0 { break }
            count += got
        }
        return Array(bytes.prefix(count))
    }
}
