internal import CLinux
internal import Glibc

/// A folder under `/tmp` for one test.
package enum TemporaryFolder {
    /// Runs `body` with the absolute path of a new folder that others may enter, and removes it afterwards.
    package static func with<Value>(_ body: (String) throws -> Value) rethrows -> Value {
        let path = make()
        defer { remove(path) }
        return try body(path)
    }

    /// As the synchronous form.
    package static func with<Value>(
        _ body: (String) async throws -> Value
    ) async rethrows -> Value {
        let path = make()
        defer { remove(path) }
        return try await body(path)
    }

    private static func make() -> String {
        var template = Array("/tmp/nuxie-folder-XXXXXX".utf8CString)
        precondition(mkdtemp(&template) != nil, "no temporary folder: errno \(errno)")
        let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        chmod(path, 0o755)
        return path
    }

    /// With everything in it.
    package static func remove(_ path: String) {
        var process = pid_t()
        let words: [String] = ["/bin/rm", "-rf", "--", path]
        let arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        guard posix_spawn(&process, "/bin/rm", nil, nil, arguments, environ) == 0 else { return }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
    }
}
