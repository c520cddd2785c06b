/// The status a command ends with.
package struct ExitCode: RawRepresentable, Sendable, Hashable {
    /// What the shell sees as `$?`.
    package let rawValue: Int32

    /// Any status, 0 to 255.
    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// 0: it did what was asked.
    package static let ok = ExitCode(rawValue: 0)
    /// 1: it failed.
    package static let failed = ExitCode(rawValue: 1)
    /// 2: the command line or the configuration is wrong; nothing was done.
    package static let usage = ExitCode(rawValue: 2)
    /// 4: what was named does not exist.
    package static let notFound = ExitCode(rawValue: 4)
    /// 5: a replay went another way than history.
    package static let diverged = ExitCode(rawValue: 5)
    /// 6: a guard refused; nothing was done.
    package static let refused = ExitCode(rawValue: 6)
    /// 7: some of it was done.
    package static let partly = ExitCode(rawValue: 7)
    /// 130: interrupted from the terminal.
    package static let interrupted = ExitCode(rawValue: 130)
}
