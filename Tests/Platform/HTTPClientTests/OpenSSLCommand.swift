import CLinux
import Glibc

/// The `openssl` command: makes certificates and serves TLS, quite apart from the code under test.
struct OpenSSLCommand {
    struct Failure: Error {
        let arguments: [String]
    }

    private let process: pid_t
    private let output: Int32

    /// Starts it; its standard output is read here, its error output dropped.
    init(_ arguments: [String]) throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failure(arguments: arguments) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        let words = (["openssl"] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var id = pid_t()
        let status = posix_spawnp(&id, "openssl", &actions, nil, words, environ)
        close(ends[1])
        guard status == 0 else {
            close(ends[0])
            throw Failure(arguments: arguments)
        }
        process = id
        output = ends[0]
    }

    /// Runs it to its end.
    static func run(_ arguments: [String]) throws {
        let command = try OpenSSLCommand(arguments)
        guard command.wait() == 0 else { throw Failure(arguments: arguments) }
    }

    /// The next line of its output; nil at the end.
    func readLine() -> String? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while read(output, &byte, 1) == 1 {
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        return nil
    }

    /// Ends it at once.
    func stop() {
        kill(process, SIGKILL)
        _ = wait()
    }

    private func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        close(output)
        return status
    }
}

/// A TLS server with a fresh self-signed certificate for `localhost`.
struct TLSServer {
    let port: UInt16
    let certificateFile: String
    private let directory: String
    private let command: OpenSSLCommand

    init() throws {
        var template = Array("/tmp/client-tests-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw OpenSSLCommand.Failure(arguments: []) }
        directory = String(
            decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        certificateFile = directory + "/certificate.pem"
        let keyFile = directory + "/key.pem"
        try OpenSSLCommand.run([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
            "-keyout", keyFile, "-out", certificateFile,
        ])
        command = try OpenSSLCommand([
            "s_server", "-accept", "127.0.0.1:0", "-cert", certificateFile, "-key", keyFile, "-www",
        ])
        while let line = command.readLine() {
            guard line.hasPrefix("ACCEPT "), let text = line.split(separator: ":").last,
                let port = UInt16(text)
            else { continue }
            self.port = port
            return
        }
        throw OpenSSLCommand.Failure(arguments: ["s_server"])
    }

    func stop() {
        command.stop()
        for name in ["/certificate.pem", "/key.pem"] { unlink(directory + name) }
        rmdir(directory)
    }
}
