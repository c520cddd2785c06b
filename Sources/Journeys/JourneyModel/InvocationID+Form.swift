internal import Crypto

extension Identifier where Kind == IdentifierKind.Invocation {
    /// SHA-256 of `runId:stepId:attemptGroup`, as the public vectors form it (S13).
    package static func make(run: RunID, step: StepID, group: Int) -> InvocationID {
        InvocationID(SHA256.hex(Array("\(run):\(step):\(group)".utf8)))
    }
}
