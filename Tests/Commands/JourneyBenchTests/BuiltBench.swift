import Glibc
import TestMaterial
import TestSupport

/// The built `journey-bench`, run as a process.
enum BuiltBench {
    struct Answer {
        let code: Int32
        let output: String
        let error: String
    }

    struct NotStarted: Error {
        let path: String
        let status: Int32
    }

    /// It lies beside the test's own program.
    private static var path: String {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let own = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        return own.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/journey-bench"
    }

    /// Waits for its end.
    static func run(_ words: [String]) throws -> Answer {
        try TemporaryFolder.with { folder in
            var actions = posix_spawn_file_actions_t()
            posix_spawn_file_actions_init(&actions)
            defer { posix_spawn_file_actions_destroy(&actions) }
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
            for (descriptor, file) in [(Int32(1), "/output"), (2, "/error")] {
                posix_spawn_file_actions_addopen(
                    &actions, descriptor, folder + file, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
            }
            let arguments = ([path] + words).map { strdup($0) } + [nil]
            defer { for text in arguments { free(text) } }
            var process = pid_t()
            let spawned = posix_spawn(&process, path, &actions, nil, arguments, environ)
            guard spawned == 0 else { throw NotStarted(path: path, status: spawned) }
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
            return Answer(
                code: status & 0x7f == 0 ? (status >> 8) & 0xff : -(status & 0x7f),
                output: text(of: folder + "/output"), error: text(of: folder + "/error"))
        }
    }

    private static func text(of path: String) -> String {
        String(decoding: Conformance.bytes(of: path) ?? [], as: UTF8.self)
    }
}
