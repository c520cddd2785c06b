internal import CommandLine
internal import Configuration
internal import EffectDispatch
internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import Settings
internal import WorkflowDefinitions

extension CommandSpecification {
    static let tryAction = CommandSpecification(
        name: "action", summary: "Render what an action would send, or send it to a test account",
        discussion: """
            Prints {"tool", "account", "request"}: the parameters of the step, with every value and template \
            filled in from the scope. A value that is missing ends with 1; the run would take the step's \
            on_failed.

            --send-to makes one attempt over an account of --config, whatever account the step names, and \
            adds {"sent_to", "outcome", "result" or "detail"}. Nothing is stored and nothing is repeated; the \
            receiver sees an idempotency key that begins with "try-".

            \(scopeText)
            """,
        examples: [
            Example(
                "journey-replay try action welcome tell --scope scope.json", "what would be sent"),
            Example(
                "journey-replay try action welcome tell --scope scope.json --config config.json "
                    + "--send-to test-crm --yes", "send it to a test account"),
        ],
        options: [
            scope, .at,
            OptionSpecification(
                "send-to", valueName: "ACCOUNT", help: "send it over this account of --config"),
            OptionSpecification("yes", short: "y", help: "do not ask before sending"),
        ],
        arguments: [
            ArgumentSpecification(
                "WORKFLOW", help: "an id under Workflows, or a definition's file"),
            ArgumentSpecification("STEP", help: "a step of type action"),
        ])
}

extension ReplayCall {
    func tryAction() async throws {
        let (workflow, _, _) = try readWorkflow(parsed.argument("WORKFLOW") ?? "")
        let action = try action(parsed.argument("STEP") ?? "", of: workflow.definition)
        let account = try testAccount(for: action)
        let file = try scopeFile()
        var evaluator = Evaluator(scope: file.scope, facts: file.facts)
        evaluator.partials = workflow.definition.partials
        let request: JSONObject
        do throws(MissingValue) {
            request = try evaluator.buildParameters(action.parameters)
        } catch {
            throw ReplayFailure("Nothing would be sent: \(error). Add it to the scope file.")
        }
        var shown = JSONObject([("tool", .string(action.tool.rawValue))])
        shown["account"] = action.account.map { .string($0) }
        shown["request"] = .object(request)
        guard let account else {
            return terminal.output.writeLine(JSONValue.object(shown).pretty)
        }
        try agree(to: "Send it to \(account.name)?")
        let name = "try-\(String(UInt64.random(in: .min ... .max), radix: 16))"
        let outcome = await Trial.send(
            request, over: account, named: name, timeout: action.attemptTimeout,
            loop: command.loop, now: command.now())
        shown["sent_to"] = .string(account.name)
        shown["outcome"] = .string(outcome.word)
        switch outcome {
        case .succeeded(let result): shown["result"] = result
        case .failed(let failure), .ambiguous(let failure), .notMade(let failure):
            shown["detail"] = failure.detail
        }
        terminal.output.writeLine(JSONValue.object(shown).pretty)
        guard case .succeeded = outcome else {
            throw ReplayFailure("The attempt over \(account.name) failed: \(outcome.word).")
        }
    }

    private func action(
        _ word: String, of definition: WorkflowDefinition
    ) throws -> ActionStep {
        guard let step = definition.steps[StepID(word)] else {
            throw ReplayFailure.notFound(
                "\(definition.id) has no step \"\(word)\""
                    + Spelling.ending(for: word, among: definition.stepOrder.map(\.text))
                    + " Its steps are \(definition.stepOrder.map(\.text).joined(separator: ", ")).")
        }
        guard case .action(let action) = step.action else {
            throw ReplayFailure(
                .usage, "\(word) is a step of type \(step.type); name one of type action.")
        }
        return action
    }

    /// The account of `--send-to`; nil where nothing is to be sent.
    private func testAccount(for action: ActionStep) throws -> AccountSettings? {
        guard let name = parsed.option("send-to") else { return nil }
        guard let file = parsed.option("config") else {
            throw UsageError(
                path: parsed.path, "--send-to needs --config FILE, which holds the account.")
        }
        let accounts = try WorkerSettings.read(.file(file, environment: environment)).accounts
        guard let account = accounts[name] else {
            throw ReplayFailure.notFound(
                "\(file) has no account \"\(name)\""
                    + Spelling.ending(for: name, among: accounts.keys.sorted())
                    + " Name one that it has.")
        }
        guard account.tool.rawValue == action.tool.rawValue else {
            throw ReplayFailure(
                .usage,
                "\(name) is an account for \(account.tool.rawValue), and the step's tool is "
                    + "\(action.tool.rawValue); name an account of that tool.")
        }
        return account
    }
}
