package import JourneyModel
internal import JourneyTurns
internal import Locks
internal import TimeZones
package import WorkflowDefinitions

/// The definitions that turns decide by, read once each and kept: a published version never changes.
package final class DefinitionCache: Sendable {
    /// Names one published version.
    package struct Key: Sendable, Hashable, Comparable {
        package var workflow: WorkflowID
        package var version: Int

        package init(workflow: WorkflowID, version: Int) {
            self.workflow = workflow
            self.version = version
        }

        package static func < (left: Key, right: Key) -> Bool {
            (left.workflow, left.version) < (right.workflow, right.version)
        }
    }

    /// A version as stored.
    struct Stored: Sendable {
        var key: Key
        var digest: String
        var canonical: [UInt8]
        /// 0 and the beginning of time for one that is not live.
        var liveRevision: Int64 = 0
        var liveSince = Instant.earliest
    }

    /// A segment's live version as stored.
    struct StoredSegment: Sendable {
        var id: SegmentID
        var version: Int
        var digest: String
        var canonical: [UInt8]
        var liveRevision: Int64
        var liveSince: Instant
    }

    private struct State {
        var revision: Int64?
        var live: [Key: (revision: Int64, since: Instant)] = [:]
        var versions: [Key: DefinitionSet.Version] = [:]
        var segments: [DefinitionSet.Segment] = []
        var failures: [Key: String] = [:]
        var segmentFailures: [SegmentID: String] = [:]
        /// Made once for each change of what it is made of.
        var set: DefinitionSet?
    }

    /// Reads the canonical bytes of a workflow.
    package typealias Read = @Sendable ([UInt8]) throws -> WorkflowDefinition
    /// Reads the canonical bytes of a segment.
    package typealias ReadSegment = @Sendable ([UInt8]) throws -> SegmentDefinition

    private let read: Read
    private let readSegment: ReadSegment
    private let state = Guarded(State())

    /// - Parameters:
    ///   - read: a version that it refuses is left out of the set, so that its own runs stand still and no
    ///     others (S18).
    ///   - readSegment: a segment that it refuses is unknown to every condition.
    package init(
        readSegment: @escaping ReadSegment = { _ in throw NoSegments() },
        read: @escaping Read
    ) {
        self.read = read
        self.readSegment = readSegment
    }

    /// Says that this process does not read segments.
    package struct NoSegments: Error, Sendable, CustomStringConvertible {
        package init() {}

        package var description: String { "this program reads no segments" }
    }

    /// The versions that could not be read, each with the sentence that says why.
    package var failures: [Key: String] { state.withLock { $0.failures } }

    /// The segments that could not be read, each with the sentence that says why.
    package var segmentFailures: [SegmentID: String] { state.withLock { $0.segmentFailures } }

    /// The set of a revision; nil when it was not taken in yet.
    func set(revision: Int64) -> DefinitionSet? {
        state.withLock { state in
            guard state.revision == revision else { return nil }
            return Self.set(of: &state)
        }
    }

    /// The set of the newest revision taken in.
    var latest: DefinitionSet { state.withLock { Self.set(of: &$0) } }

    /// A set with older versions added to it, as far as they were read; its live versions stay.
    func set(_ set: DefinitionSet, with older: Set<Key>) -> DefinitionSet {
        let versions = state.withLock { state in older.sorted().compactMap { state.versions[$0] } }
        return set.adding(versions)
    }

    /// Those of `keys` that neither stand in the cache nor failed to be read.
    func missing(_ keys: Set<Key>) -> [Key] {
        state.withLock { state in
            keys.filter { state.versions[$0] == nil && state.failures[$0] == nil }
        }.sorted()
    }

    /// The live versions' statements answered for this revision.
    func takeLive(_ stored: [Stored], segments: [StoredSegment] = [], revision: Int64) {
        takeVersions(stored)
        var read: [DefinitionSet.Segment] = []
        var failures: [SegmentID: String] = [:]
        for one in segments {
            do {
                read.append(
                    DefinitionSet.Segment(
                        number: one.version, digest: one.digest,
                        definition: try readSegment(one.canonical),
                        liveRevision: one.liveRevision, liveSince: one.liveSince))
            } catch {
                failures[one.id] = String(describing: error)
            }
        }
        state.withLock { state in
            guard revision >= state.revision ?? .min else { return }
            state.revision = revision
            state.live = Dictionary(
                stored.map { ($0.key, ($0.liveRevision, $0.liveSince)) },
                uniquingKeysWith: { first, _ in first })
            state.segments = read
            state.segmentFailures = failures
            state.set = nil
        }
    }

    func takeVersions(_ stored: [Stored]) {
        for one in stored where !missing([one.key]).isEmpty {
            do {
                let version = DefinitionSet.Version(
                    workflow: one.key.workflow, number: one.key.version, digest: one.digest,
                    definition: try read(one.canonical), readsRaw: one.readsRaw)
                state.withLock { state in
                    state.versions[one.key] = version
                    state.set = nil
                }
            } catch {
                state.withLock { $0.failures[one.key] = String(describing: error) }
            }
        }
    }

    private static func set(of state: inout State) -> DefinitionSet {
        if let set = state.set { return set }
        var live: [DefinitionSet.Version] = []
        var older: [DefinitionSet.Version] = []
        for (key, version) in state.versions.sorted(by: { $0.key < $1.key }) {
            guard let standing = state.live[key] else {
                older.append(version)
                continue
            }
            var version = version
            version.liveRevision = standing.revision
            version.liveSince = standing.since
            live.append(version)
        }
        let set = DefinitionSet(live: live, older: older, segments: state.segments)
        state.set = set
        return set
    }
}

extension DefinitionCache.Stored {
    /// Only a filter may name the provider's object, so the text tells.
    fileprivate var readsRaw: Bool {
        String(decoding: canonical, as: UTF8.self).contains("/event/raw")
    }
}
