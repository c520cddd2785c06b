import Glibc
import JSON
import Locks
import TestMaterial
import TestSupport

/// A built program, as a process of its own.
final class Process: Sendable {
    /// Where the programs lie: beside the test's own.
    static let folder: String = {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let own = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        return own.split(separator: "/").dropLast().map { "/" + $0 }.joined()
    }()

    private let id: pid_t
    private let outputPath: String
    private let errorPath: String
    private let ended = Guarded<Int32?>(nil)

    /// Starts it in `folder` with nothing but `environment`; what it writes is kept there.
    ///
    /// - Parameter home: the working directory; `folder` when nil.
    init(
        _ words: [String], of program: String = "journey-worker", in folder: String,
        home: String? = nil, name: String = "worker", environment: [String: String] = [:]
    ) throws {
        let program = "\(Self.folder)/\(program)"
        outputPath = "\(folder)/\(name)-output"
        errorPath = "\(folder)/\(name)-error"
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        for (descriptor, path) in [(Int32(1), outputPath), (2, errorPath)] {
            posix_spawn_file_actions_addopen(
                &actions, descriptor, path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        }
        let arguments = (["env", "-C", home ?? folder, program] + words).map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var process = pid_t()
        let status = posix_spawn(&process, "/usr/bin/env", &actions, nil, arguments, variables)
        guard status == 0 else { throw World.Failure(what: "\(program): \(status)") }
        id = process
    }

    func signal(_ number: Int32) { if ended.withLock({ $0 }) == nil { kill(id, number) } }

    /// The exit code, or the negative number of the signal, once it has ended.
    var code: Int32? {
        ended.withLock { ended in
            if let ended { return ended }
            var status: Int32 = 0
            guard waitpid(id, &status, WNOHANG) == id else { return nil }
            let code = status & 0x7f == 0 ? (status >> 8) & 0xff : -(status & 0x7f)
            ended = code
            return code
        }
    }

    /// Whether it is frozen by SIGSTOP.
    var isStopped: Bool {
        guard ended.withLock({ $0 }) == nil else { return false }
        let stat = Self.text("/proc/\(id)/stat")
        guard let end = stat.lastIndex(of: ")") else { return false }
        return stat[end...].dropFirst(2).first == "T"
    }

    /// Resident memory in bytes; nil once it has ended.
    var memory: Int? {
        guard ended.withLock({ $0 }) == nil else { return nil }
        let fields = Self.text("/proc/\(id)/statm").split(separator: " ")
        return fields.dropFirst().first.flatMap { Int($0) }.map {
            $0 * sysconf(Int32(_SC_PAGESIZE))
        }
    }

    var output: String { Self.text(outputPath) }
    var errors: String { Self.text(errorPath) }

    /// The port that the log's line `ready` names; nil before it.
    func port(_ key: String) -> UInt16? {
        for line in errors.split(separator: "\n") {
            guard let json = try? JSONParser.parse(Array(line.utf8)),
                json["message"]?.string == "ready"
            else { continue }
            return json[key]?.integer.flatMap { UInt16(exactly: $0) }
        }
        return nil
    }

    deinit {
        if code == nil {
            kill(id, SIGKILL)
            var status: Int32 = 0
            while waitpid(id, &status, 0) < 0, errno == EINTR {}
        }
    }

    private static func text(_ path: String) -> String {
        String(decoding: Conformance.bytes(of: path) ?? [], as: UTF8.self)
    }

    /// Writes a configuration for a process.
    static func write(_ json: JSONValue, to path: String) throws {
        guard let file = fopen(path, "wb") else { throw World.Failure(what: path) }
        defer { fclose(file) }
        let bytes = json.bytes
        guard fwrite(bytes, 1, bytes.count, file) == bytes.count else {
            throw World.Failure(what: path)
        }
    }
}
