internal import JourneyModel
package import WorkflowDefinitions

/// An action that these accounts cannot do: it would wait for its deadline and fail.
package struct AccountMismatch: Sendable, Hashable, CustomStringConvertible {
    /// The account that the action names.
    package let account: String
    /// Whether no account of that name is configured.
    package let isUnknown: Bool
    /// One sentence without its full stop: the step, the account, and what is wrong with it.
    package let description: String

    /// The first such action of some workflows; nil when every account is there and of the right tool.
    package static func first(
        of workflows: [PublishedWorkflow], among accounts: [String: AccountSettings]
    ) -> AccountMismatch? {
        for workflow in workflows.map(\.definition) {
            for id in workflow.stepOrder {
                guard case .action(let action)? = workflow.steps[id]?.action,
                    let name = action.account
                else { continue }
                let place = "step \(id) of \(workflow.id) acts on the account \"\(name)\", which "
                guard let account = accounts[name] else {
                    return AccountMismatch(
                        account: name, isUnknown: true,
                        description: place + "the configuration does not have")
                }
                guard account.tool.rawValue == action.tool.rawValue else {
                    return AccountMismatch(
                        account: name, isUnknown: false,
                        description: place + "is one of the tool \(account.tool.rawValue), not "
                            + action.tool.rawValue)
                }
            }
        }
        return nil
    }
}
