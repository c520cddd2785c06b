internal import HTTPClient
internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import JourneyStorage
internal import Settings
internal import Telemetry
internal import TimeZones
internal import WorkflowDefinitions

/// Makes one attempt with the tool it is for.
final class AttemptMaker: Sendable {
    private let accounts: [String: AccountSettings]
    private let transport: HTTPTransport
    private let log: Log
    private let clock: @Sendable () -> Instant

    init(
        accounts: [String: AccountSettings], transport: HTTPTransport, log: Log,
        clock: @escaping @Sendable () -> Instant
    ) {
        self.accounts = accounts
        self.transport = transport
        self.log = log
        self.clock = clock
    }

    func make(_ lease: LeasedEffect) async -> AttemptOutcome {
        switch lease.request.tool {
        case .log: return writeLog(lease)
        case .http: return await callHTTP(lease)
        case .slack: return await postToSlack(lease)
        }
    }

    /// Ends the transport; attempts under way end as broken.
    func shutdown() async { await transport.shutdown() }

    private func writeLog(_ lease: LeasedEffect) -> AttemptOutcome {
        let text = lease.request.request["text"].map { $0.string ?? $0.text } ?? ""
        let level = lease.request.request["level"]?.string.flatMap { LogLevel(rawValue: $0) }
        log.log(
            level ?? .info, text,
            [
                "workflow": .text(lease.workflow.text), "run": .text(lease.request.run.text),
                "step": .text(lease.request.step.text),
            ])
        return .succeeded(.object(JSONObject()))
    }

    private func callHTTP(_ lease: LeasedEffect) async -> AttemptOutcome {
        await call(lease, result: AnswerReader.wholeResult) { account throws(AttemptFailure) in
            try HTTPAction(
                account: account, invocation: lease.request.invocation,
                request: lease.request.request, timeout: lease.request.attemptTimeout
            ).makeCall(now: clock())
        }
    }

    private func postToSlack(_ lease: LeasedEffect) async -> AttemptOutcome {
        await call(lease, result: AnswerReader.status) { account throws(AttemptFailure) in
            try SlackAction(
                account: account, invocation: lease.request.invocation,
                request: lease.request.request, timeout: lease.request.attemptTimeout
            ).makeCall()
        }
    }

    private func call(
        _ lease: LeasedEffect, result: (HTTPAnswer) -> JSONValue,
        _ make: (AccountSettings) throws(AttemptFailure) -> HTTPCall
    ) async -> AttemptOutcome {
        guard let name = lease.request.account, let account = accounts[name] else {
            return .failed(
                AttemptFailure(
                    error: "no_account",
                    detail: .string(
                        "the account \(lease.request.account ?? "") is not configured here")))
        }
        let call: HTTPCall
        do throws(AttemptFailure) {
            call = try make(account)
        } catch {
            return .failed(error)
        }
        do throws(HTTPClientError) {
            let answer = try await transport.send(call)
            return AnswerReader.outcome(of: answer, now: clock(), result: result)
        } catch {
            return AnswerReader.outcome(of: error)
        }
    }
}
