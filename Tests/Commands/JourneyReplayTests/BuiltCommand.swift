import Glibc
import TestMaterial
import TestSupport

/// The built `journey-replay`, run as a process.
enum BuiltCommand {
    /// It lies beside the test's own program.
    static var path: String {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let own = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        return own.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/journey-replay"
    }

    /// Runs it in `folder` with nothing but `environment`, and waits for its end.
    static func run(
        _ words: [String], in folder: String, environment: [String: String] = [:]
    ) -> Answer {
        let output = folder + "/standard-output"
        let error = folder + "/standard-error"
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        for (descriptor, file) in [(Int32(1), output), (2, error)] {
            posix_spawn_file_actions_addopen(
                &actions, descriptor, file, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        }
        let arguments = (["env", "-C", folder, path] + words).map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var process = pid_t()
        let spawned = posix_spawn(&process, "/usr/bin/env", &actions, nil, arguments, variables)
        guard spawned == 0 else {
            return Answer(code: -1, output: "", error: "\(path) cannot be started: \(spawned)")
        }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return Answer(
            code: status & 0x7f == 0 ? (status >> 8) & 0xff : -(status & 0x7f),
            output: text(of: output), error: text(of: error))
    }

    private static func text(of path: String) -> String {
        String(decoding: Conformance.bytes(of: path) ?? [], as: UTF8.self)
    }
}
