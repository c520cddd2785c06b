package import CommandLine

/// Why a verb ends with another status than 0, and what it says on standard error.
package struct ReplayFailure: Error, Sendable, Hashable, CustomStringConvertible {
    package let code: ExitCode
    /// One sentence with the fact and the next step; empty when the output has said it already.
    package let sentence: String

    package init(_ code: ExitCode, _ sentence: String) {
        self.code = code
        self.sentence = sentence
    }

    /// It went wrong: ``ExitCode/failed``.
    package init(_ sentence: String) { self.init(.failed, sentence) }

    package var description: String { sentence }

    /// What was asked for is not there.
    static func notFound(_ sentence: String) -> ReplayFailure { ReplayFailure(.notFound, sentence) }

    /// A guard stands in the way; nothing was done.
    static func refused(_ sentence: String) -> ReplayFailure { ReplayFailure(.refused, sentence) }
}
