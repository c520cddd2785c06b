internal import CLinux
internal import Glibc
internal import Locks

/// A program that runs as `user` and is interrupted when this process dies, by whatever means.
///
/// The kernel ties that promise (`PR_SET_PDEATHSIG`) to the *thread* that spawned the child. So each
/// child has a thread of its own that spawns it and then waits for it: no caller's thread matters.
final class ChildProcess: Sendable {
    private enum State {
        case starting
        case running(pid_t)
        case ended(Int32)
        case failed(Int32)
    }

    private let state = Guarded(State.starting)

    /// Starts `arguments[0]`; its output is appended to `log`.
    init(
        _ arguments: [String], as user: SystemUser, log: String
    ) throws(PrivateClusterError) {
        var whole = ["setpriv", "--pdeathsig", "INT"]
        if user.userID != getuid() {
            whole += [
                "--reuid", "\(user.userID)", "--regid", "\(user.groupID)", "--clear-groups",
                "--no-new-privs",
            ]
        }
        whole += ["--"] + arguments
        Thread.start { [self, whole] in runToEnd(whole, log: log) }
        waitUntil(.seconds(30)) { if case .starting = $0 { false } else { true } }
        if case .failed(let code) = state.withLock({ $0 }) {
            throw .system(
                action: "start", path: arguments[0], reason: String(cString: strerror(code)))
        }
    }

    /// Nil once it has ended.
    var process: pid_t? {
        state.withLock { state in
            if case .running(let process) = state { process } else { nil }
        }
    }

    /// The wait status, once it has ended.
    var status: Int32? {
        state.withLock { state in
            if case .ended(let status) = state { status } else { nil }
        }
    }

    /// Sent under the lock, so that the number cannot belong to another process yet.
    func signal(_ number: Int32) {
        state.withLock { state in
            if case .running(let process) = state { _ = kill(process, number) }
        }
    }

    /// False when it still runs after `limit`.
    @discardableResult
    func waitForEnd(_ limit: Duration) -> Bool {
        waitUntil(limit) { if case .ended = $0 { true } else { false } }
    }

    @discardableResult
    private func waitUntil(
        _ limit: Duration, _ isReached: (borrowing State) -> Bool
    ) -> Bool {
        let end = ContinuousClock.now + limit
        while true {
            if state.withLock({ isReached($0) }) { return true }
            if ContinuousClock.now >= end { return false }
            usleep(2_000)
        }
    }

    private func runToEnd(_ arguments: [String], log: String) {
        var process = pid_t()
        let code = Self.spawn(arguments, log: log, into: &process)
        guard code == 0 else {
            state.withLock { $0 = .failed(code) }
            return
        }
        let started = process
        state.withLock { $0 = .running(started) }
        // Looked at without reaping first: a signal must never go to a number that was given away.
        var result = siginfo_t()
        while waitid(P_PID, id_t(started), &result, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        state.withLock { state in
            var status: Int32 = 0
            while waitpid(started, &status, 0) < 0, errno == EINTR {}
            state = .ended(status)
        }
    }

    private static func spawn(
        _ arguments: [String], log: String, into process: inout pid_t
    ) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        // A group of its own: a terminal's ^C goes to us alone, who then stop the server in order.
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))
        let environment = ["PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "TZ=UTC"]
        var argv = arguments.map { strdup($0) as UnsafeMutablePointer<CChar>? } + [nil]
        var envp = environment.map { strdup($0) as UnsafeMutablePointer<CChar>? } + [nil]
        defer { for pointer in argv + envp { free(pointer) } }
        return posix_spawnp(&process, arguments[0], &actions, &attributes, &argv, &envp)
    }
}

/// A detached thread; its stack is the system's.
private enum Thread {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    static func start(_ run: @escaping @Sendable () -> Void) {
        let body = Unmanaged.passRetained(Body(run))
        var id = pthread_t()
        let code = pthread_create(
            &id, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, body.toOpaque())
        precondition(code == 0, "no thread for a child process: \(code)")
        pthread_detach(id)
    }
}
