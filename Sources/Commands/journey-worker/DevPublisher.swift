internal import CommandLine
internal import Configuration
internal import JourneyModel
internal import JourneyStorage
internal import Locks
internal import Postgres
internal import Reactor
internal import Settings
internal import WorkflowDefinitions

/// Publishes the workflows folder at start and whenever a file in it changes.
final class DevPublisher: Sendable {
    private let folder: String
    private let settings: WorkerSettings
    private let loop: EventLoop
    private let terminal: Terminal
    private struct State {
        /// The last text seen of each file, so that a broken file is complained about once.
        var seen: [String: [UInt8]]?
        /// The last failure told: it comes back every second until it is mended.
        var told: String?
        /// Workflows of files that were published, by the file's path.
        var published: [String: WorkflowID] = [:]
    }

    private let state = Guarded(State())

    init(folder: String, settings: WorkerSettings, loop: EventLoop, terminal: Terminal) {
        self.folder = folder
        self.settings = settings
        self.loop = loop
        self.terminal = terminal
    }

    /// Looks once a second until the task is cancelled.
    func watch() async {
        while !Task.isCancelled {
            try? await loop.sleep(for: .seconds(1))
            await publishIfChanged()
        }
    }

    func publishIfChanged() async {
        do {
            let texts = try read()
            guard state.withLock({ $0.seen != texts }) else { return }
            let read = try WorkflowFolder.read(folder)
            tellGone(read)
            for diagnostic in read.diagnostics { terminal.error.write("\(diagnostic)\n") }
            if read.hasErrors {
                terminal.error.write("Nothing was published; mend the above and save.\n")
            } else if let found = AccountMismatch.first(
                of: read.published, among: settings.accounts)
            {
                let known = settings.accounts.keys.sorted().joined(separator: ", ")
                terminal.error.writeLine(
                    "Nothing was published: \(found). The accounts here are \(known).")
            } else {
                try await publish(read)
            }
            // Not before: what the database did not take is published with the next look.
            state.withLock { state in
                state.seen = texts
                state.told = nil
            }
        } catch {
            let sentence = "\(error)"
            let isNew = state.withLock { state in
                defer { state.told = sentence }
                return state.told != sentence
            }
            if isNew { terminal.error.write("journey-worker: \(sentence)\n") }
        }
    }

    /// Says once of each published workflow that no file holds it any more; a file that was renamed
    /// is no loss.
    private func tellGone(_ read: WorkflowFolder) {
        let paths = Set(read.files.map(\.path))
        let present = Set(read.published.map(\.definition.id))
        let gone = state.withLock { state in
            let gone = state.published.filter { !paths.contains($0.key) }
            for path in gone.keys { state.published[path] = nil }
            return gone.filter { !present.contains($0.value) }
        }
        for (path, workflow) in gone.sorted(by: { $0.key < $1.key }) {
            terminal.error.writeLine(
                printable(
                    "\(path) is gone from the folder; the workflow \(workflow) stays published."))
        }
    }

    private func read() throws(BoundedFile.Failure) -> [String: [UInt8]] {
        var texts: [String: [UInt8]] = [:]
        for name in try BoundedFile.names(in: folder) where name.hasSuffix(".json") {
            texts[name] = try BoundedFile.read(folder + "/" + name, limit: 1_048_576)
        }
        for beside in ["segments", "experiments"]
        where BoundedFile.exists(folder + "/" + beside) {
            for name in try BoundedFile.names(in: folder + "/" + beside)
            where name.hasSuffix(".json") {
                let path = beside + "/" + name
                texts[path] = try BoundedFile.read(folder + "/" + path, limit: 1_048_576)
            }
        }
        return texts
    }

    private func publish(_ read: WorkflowFolder) async throws {
        let pool = PostgresPool(
            settings: settings.database.postgres(applicationName: "journey-worker dev"), size: 1,
            loop: loop)
        let publications: [DefinitionStore.Publication]
        do {
            let store = DefinitionStore(pool: pool)
            if let complaint = try await store.complaint(publishing: read.published) {
                terminal.error.writeLine("Nothing was published: \(complaint)")
                await pool.close()
                return
            }
            publications = try await store.publish(
                read.published, segments: read.segments, by: "journey-worker dev",
                reason: "the folder \(folder)"
            ).workflows
        } catch {
            await pool.close()
            throw error
        }
        await pool.close()
        state.withLock { state in
            for file in read.files {
                state.published[file.path] = file.outcome.published?.definition.id
            }
        }
        for publication in publications where publication.change != .unchanged {
            terminal.output.write(
                "published  \(publication.workflow) version \(publication.version)\n")
        }
    }
}
