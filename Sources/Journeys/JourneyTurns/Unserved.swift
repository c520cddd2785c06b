/// Why a customer's turn cannot be decided here and now, although nothing is wrong with the customer:
/// this process lacks a connector or a definition that it needs. The turn is tried again, without a
/// limit of attempts, and nothing is taken: what was stored waits for a process that knows more.
package struct Unserved: Error, Sendable, Hashable, CustomStringConvertible {
    /// The fact and the next step.
    package let sentence: String

    package init(sentence: String) { self.sentence = sentence }

    package var description: String { sentence }
}
