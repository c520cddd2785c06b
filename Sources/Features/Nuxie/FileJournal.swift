#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The journal as a file of lines, in a folder that one process has at a time.
///
/// Lines are appended; a file past ``compactionSize`` that mostly speaks of what is over is written anew
/// beside the old one and put in its place. Damaged lines are left out with a note, the cut end of a file
/// first of all.
final class FileJournal: OperationJournal, @unchecked Sendable {
    private struct State {
        var file: Int32
        var size: Int
        var content: JournalContent
        var isSynchronized = true
    }

    /// Bytes from which on a file may be written anew.
    static let compactionSize = 262_144
    /// Bytes of the largest file: what waits may not grow without end.
    static let largestSize = 8_388_608

    let recovered: JournalContent
    private let path: String
    private let log: SDKLog
    private let state: Locked<State>

    init(folder: String, log: SDKLog) throws(NuxieError) {
        path = folder + "/operations.journal"
        self.log = log
        try Self.makeFolder(folder)
        let file = try Self.open(path)
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            let found = errno
            _ = Self.close(file)
            throw found == EWOULDBLOCK
                ? NuxieError(
                    .storageFailed,
                    "Another process uses the folder \(folder); set storageFolder to another one.")
                : Self.failure("lock", path, found)
        }
        let bytes = try Self.read(file, path)
        var content = JournalContent()
        var damaged = 0
        for line in bytes.split(separator: 0x0a) {
            if let record = JournalRecord(line: line) {
                content.take(record)
            } else {
                damaged += 1
            }
        }
        recovered = content
        state = Locked(State(file: file, size: bytes.count, content: content))
        if damaged > 0 {
            log.log(
                .warning,
                "\(damaged) damaged lines of the journal were cut; the \(content.pending.count) "
                    + "operations that are whole are sent.")
        }
        if damaged > 0 || bytes.last ?? 0x0a != 0x0a {
            try state.withLock { state throws(NuxieError) in try rewrite(&state) }
        }
    }

    func append(_ record: JournalRecord) throws(NuxieError) {
        try state.withLock { state throws(NuxieError) in
            let line = record.line
            guard state.size + line.count <= Self.largestSize else {
                throw NuxieError(
                    .tooManyPending, "The journal is full; connect to the server to empty it.")
            }
            try write(line, &state)
            state.content.take(record)
            state.isSynchronized = false
            if state.size > Self.compactionSize {
                let useful = state.content.records.reduce(0) { $0 + $1.line.count }
                if useful * 2 < state.size { try rewrite(&state) }
            }
        }
    }

    func synchronize() throws(NuxieError) {
        try state.withLock { state throws(NuxieError) in
            if state.isSynchronized { return }
            guard fsync(state.file) == 0 else { throw Self.failure("synchronize", path, errno) }
            state.isSynchronized = true
        }
    }

    func close() {
        state.withLock { state in
            if state.file >= 0 { _ = Self.close(state.file) }
            state.file = -1
        }
    }

    // MARK: Files

    /// Appends a line whole or not at all: half of one is cut off again.
    private func write(_ line: [UInt8], _ state: inout State) throws(NuxieError) {
        var written = 0
        while written < line.count {
            let count = line[written...].withUnsafeBytes { bytes in
                Self.write(state.file, bytes.baseAddress, bytes.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let found = errno
                _ = ftruncate(state.file, off_t(state.size))
                throw Self.failure("write", path, found)
            }
            written += count
        }
        state.size += line.count
    }

    /// Puts a file that says the same, and no more, in this one's place.
    private func rewrite(_ state: inout State) throws(NuxieError) {
        let beside = path + ".new"
        unlink(beside)
        let file = try Self.open(beside)
        var fresh = State(file: file, size: 0, content: state.content)
        do throws(NuxieError) {
            for record in state.content.records { try write(record.line, &fresh) }
            guard fsync(file) == 0, flock(file, LOCK_EX | LOCK_NB) == 0,
                rename(beside, path) == 0
            else { throw Self.failure("replace", path, errno) }
        } catch {
            _ = Self.close(file)
            throw error
        }
        _ = Self.close(state.file)
        state = fresh
    }

    private static func makeFolder(_ folder: String) throws(NuxieError) {
        var made = ""
        for part in folder.split(separator: "/", omittingEmptySubsequences: false) {
            made += made.isEmpty && !folder.hasPrefix("/") ? String(part) : "/" + part
            if part.isEmpty {
                made = made == "/" ? "" : made
                continue
            }
            guard mkdir(made, 0o700) == 0 || errno == EEXIST || access(made, X_OK) == 0 else {
                throw failure("make the folder", made, errno)
            }
        }
    }

    private static func open(_ path: String) throws(NuxieError) -> Int32 {
        let file = unsafeOpen(path)
        guard file >= 0 else { throw failure("open", path, errno) }
        return file
    }

    private static func read(_ file: Int32, _ path: String) throws(NuxieError) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= largestSize {
            let count = readChunk(file, &chunk)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("read", path, errno) }
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        return bytes
    }

    private static func failure(_ verb: String, _ path: String, _ code: Int32) -> NuxieError {
        NuxieError(
            .storageFailed,
            "Could not \(verb) \(path): \(String(cString: strerror(code))); see that the folder is "
                + "there, may be written and has room.")
    }

    private static func close(_ file: Int32) -> Int32 { closeFile(file) }

    private static func write(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
        writeBytes(file, bytes, count)
    }
}

// The C functions under names that the methods above do not hide.

private func unsafeOpen(_ path: String) -> Int32 {
    open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
}

private func closeFile(_ file: Int32) -> Int32 { close(file) }

private func readChunk(_ file: Int32, _ chunk: inout [UInt8]) -> Int {
    read(file, &chunk, chunk.count)
}

private func writeBytes(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(file, bytes, count)
}
