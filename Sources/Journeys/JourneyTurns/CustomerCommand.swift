package import JourneyEngine
package import JourneyModel

/// An operator's command for one run, as an inbox row holds it.
package struct CustomerCommand: Sendable, Hashable {
    package var run: RunID
    package var command: OperatorCommand

    package init(run: RunID, command: OperatorCommand) {
        self.run = run
        self.command = command
    }
}

/// What a turn made of a command, for who asked.
package struct CommandOutcome: Sendable, Hashable {
    package var audit: Int64
    package var run: RunID
    /// Why it was refused; nil when it was done.
    package var refusal: String?

    package init(audit: Int64, run: RunID, refusal: String? = nil) {
        self.audit = audit
        self.run = run
        self.refusal = refusal
    }
}
