package import JourneyModel
internal import JourneyTurns
internal import Locks
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
    }

    private struct State {
        var revision: Int64?
        var live: Set<Key> = []
        var versions: [Key: DefinitionSet.Version] = [:]
        var failures: [Key: String] = [:]
    }

    private let read: @Sendable ([UInt8]) throws -> WorkflowDefinition
    private let state = Guarded(State())

    /// - Parameter read: reads canonical bytes. A version that it refuses is left out of the set, so
    ///   that its own runs stand still and no others (S18).
    package init(read: @escaping @Sendable ([UInt8]) throws -> WorkflowDefinition) {
        self.read = read
    }

    /// The versions that could not be read, each with the sentence that says why.
    package var failures: [Key: String] { state.withLock { $0.failures } }

    /// The set of a revision; nil when it was not taken in yet.
    func set(revision: Int64) -> DefinitionSet? {
        state.withLock { state in
            guard state.revision == revision else { return nil }
            return Self.makeSet(state)
        }
    }

    /// The set of the newest revision taken in.
    var latest: DefinitionSet { state.withLock { Self.makeSet($0) } }

    /// A set with older versions added to it, as far as they were read; its live versions stay.
    func set(_ set: DefinitionSet, with older: Set<Key>) -> DefinitionSet {
        let versions = state.withLock { state in older.sorted().compactMap { state.versions[$0] } }
        return DefinitionSet(live: set.live, older: set.older + versions)
    }

    /// Those of `keys` that neither stand in the cache nor failed to be read.
    func missing(_ keys: Set<Key>) -> [Key] {
        state.withLock { state in
            keys.filter { state.versions[$0] == nil && state.failures[$0] == nil }
        }.sorted()
    }

    /// The live keys' statement answered for this revision.
    func takeLive(_ stored: [Stored], revision: Int64) {
        takeVersions(stored)
        state.withLock { state in
            guard revision >= state.revision ?? .min else { return }
            state.revision = revision
            state.live = Set(stored.map(\.key))
        }
    }

    func takeVersions(_ stored: [Stored]) {
        for one in stored where !missing([one.key]).isEmpty {
            do {
                let definition = try read(one.canonical)
                let version = DefinitionSet.Version(
                    workflow: one.key.workflow, number: one.key.version, digest: one.digest,
                    definition: definition)
                state.withLock { $0.versions[one.key] = version }
            } catch {
                state.withLock { $0.failures[one.key] = String(describing: error) }
            }
        }
    }

    private static func makeSet(_ state: State) -> DefinitionSet {
        var live: [DefinitionSet.Version] = []
        var older: [DefinitionSet.Version] = []
        for (key, version) in state.versions.sorted(by: { $0.key < $1.key }) {
            if state.live.contains(key) { live.append(version) } else { older.append(version) }
        }
        return DefinitionSet(live: live, older: older)
    }
}
