import HTTPClient
import JSON
import JourneyEngine
import Testing
import TimeZones
import WorkflowDefinitions

@testable import EffectDispatch

/// What answers, errors and `Retry-After` mean.
@Suite struct AnswerReaderTests {
    // MARK: The answer

    private func outcome(_ answer: HTTPAnswer) throws -> AttemptOutcome {
        AnswerReader.outcome(
            of: answer, now: DispatchWorld.now, result: AnswerReader.wholeResult)
    }

    @Test(arguments: [200, 201, 204, 299])
    func `a 2xx is a success with status, headers and body`(status: Int) throws {
        let answer = HTTPAnswer(
            status: status,
            headers: [HTTPHeaderField(name: "Content-Type", value: "application/problem+JSON")],
            body: Array(#"{"id": 10000000000000000001}"#.utf8))
        guard case .succeeded(let result) = try outcome(answer) else {
            Issue.record("no success")
            return
        }
        #expect(result["status"] == .integer(status))
        #expect(result["headers"]?["content-type"] == "application/problem+JSON")
        #expect(result["json"]?["id"]?.number?.literal == "10000000000000000001")
        #expect(result["text"] == nil)
    }

    @Test func `a body that is no JSON, or is not said to be, is text without NULs`() throws {
        let json = HTTPHeaderField(name: "content-type", value: "application/json")
        for (headers, body, text) in [
            ([], Array(#"{"a":1}"#.utf8), #"{"a":1}"#),
            ([json], Array("{broken".utf8), "{broken"),
            ([json], Array("a\0b".utf8), "a?b"),
            ([], [0xff, 0x41], "\u{FFFD}A"),
            ([], [], ""),
        ] as [([HTTPHeaderField], [UInt8], String)] {
            guard
                case .succeeded(let result) = try outcome(
                    HTTPAnswer(status: 200, headers: headers, body: body))
            else {
                Issue.record("no success")
                return
            }
            #expect(result["text"]?.string == text)
            #expect(result["json"] == nil)
        }
    }

    @Test func `a result past 16 KB keeps its status`() throws {
        let large = Array(repeating: UInt8(ascii: "x"), count: AnswerReader.resultLimit)
        #expect(
            try outcome(HTTPAnswer(status: 200, body: large))
                == .succeeded(["status": 200, "truncated": true]))
    }

    @Test(
        arguments: [
            (301, nil), (400, nil), (401, nil), (404, nil), (408, nil), (422, nil),
            (429, .tooManyRequests), (500, .serverError), (503, .serverError), (599, .serverError),
        ] as [(Int, RetryPolicy.Cause?)])
    func `any other status is a certain failure with its cause`(
        status: Int, cause: RetryPolicy.Cause?
    ) throws {
        let answer = HTTPAnswer(status: status, body: Array("no\0".utf8))
        guard case .failed(let failure) = try outcome(answer) else {
            Issue.record("not a certain failure")
            return
        }
        #expect(failure.error == "http_\(status)")
        #expect(failure.retryCause == cause)
        #expect(failure.detail == ["status": .integer(status), "body": "no?"])
    }

    @Test(
        arguments: [
            ("7", .seconds(7)), ("0", .zero), ("-5", nil), ("+5", nil), ("1.5", nil),
            ("999999999", .seconds(31_622_400)), ("9999999999999999999999", .seconds(31_622_400)),
            // The tests' clock stands at 2026-03-31T23:33:20.5Z.
            ("Tue, 31 Mar 2026 23:34:00 GMT", .milliseconds(39_500)),
            ("Tuesday, 31-Mar-26 23:34:00 GMT", .milliseconds(39_500)),
            ("Tue Mar 31 23:34:00 2026", .milliseconds(39_500)),
            ("Wed Apr  1 00:33:20 2026", .milliseconds(3_599_500)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", .zero), ("Tue, 31 Mar 2026 23:34:00 CET", nil),
            ("Tue, 31 Xyz 2026 23:34:00 GMT", nil), ("Tue, 32 Mar 2026 23:34:00 GMT", nil),
            ("", nil), ("soon", nil),
        ] as [(String, Duration?)])
    func `Retry-After is read in seconds or as a date in HTTP's three forms`(
        text: String, wait: Duration?
    ) throws {
        let answer = HTTPAnswer(
            status: 503, headers: [HTTPHeaderField(name: "retry-after", value: text)])
        guard case .failed(let failure) = try outcome(answer) else {
            Issue.record("not a certain failure")
            return
        }
        #expect(failure.retryAfter == wait)
    }

    @Test func `a Retry-After date is told against the receiver's own clock`() throws {
        let answer = HTTPAnswer(
            status: 429,
            headers: [
                HTTPHeaderField(name: "Date", value: "Sun, 06 Nov 1994 08:49:37 GMT"),
                HTTPHeaderField(name: "Retry-After", value: "Sun, 06 Nov 1994 08:50:07 GMT"),
            ])
        guard case .failed(let failure) = try outcome(answer) else { return }
        #expect(failure.retryAfter == .seconds(30))
    }

    @Test func `an error's excerpt is at most 4 KB`() throws {
        let answer = HTTPAnswer(status: 400, body: Array(repeating: 0x61, count: 100_000))
        guard case .failed(let failure) = try outcome(answer) else { return }
        #expect(failure.detail["body"]?.string?.utf8.count == AnswerReader.excerptLimit)
    }

    @Test(
        arguments: [
            (.timedOut, "timeout"), (.brokenConnection, "network"), (.connectFailed, "network"),
            (.tls("x"), "network"), (.unresolvedHost, "network"),
        ] as [(HTTPClientError.Kind, String)])
    func `without an answer, only a request that never left is a certain failure`(
        kind: HTTPClientError.Kind, word: String
    ) {
        for mayHaveBeenSent in [true, false] {
            let outcome = AnswerReader.outcome(
                of: HTTPClientError(kind: kind, requestMayHaveBeenSent: mayHaveBeenSent))
            #expect(outcome.isAmbiguous == mayHaveBeenSent)
            #expect(outcome.word == word)
        }
    }

    @Test(arguments: [HTTPClientError.Kind.cancelled, .tooManyCalls])
    func `what this process broke off is no attempt where nothing was sent`(
        kind: HTTPClientError.Kind
    ) {
        #expect(
            AnswerReader.outcome(
                of: HTTPClientError(kind: kind, requestMayHaveBeenSent: false)
            ).verdict(isIdempotent: false) == .handBack)
        let sent = AnswerReader.outcome(
            of: HTTPClientError(kind: kind, requestMayHaveBeenSent: true))
        #expect(sent.isAmbiguous && sent.word == "interrupted")
        // It uses up no attempt, and a receiver that does not honour the key is not told again.
        #expect(sent.verdict(isIdempotent: true) == .repeatAfter(.zero))
        #expect(sent.verdict(isIdempotent: false) == .end(.unknown))
    }

    @Test func `a refused destination is certain and not repeated`() {
        for kind in [HTTPClientError.Kind.destinationRefused("x"), .invalidCall("y")] {
            let outcome = AnswerReader.outcome(
                of: HTTPClientError(kind: kind, requestMayHaveBeenSent: false))
            guard case .failed(let failure) = outcome else {
                Issue.record("not a certain failure")
                return
            }
            #expect(failure.retryCause == nil)
        }
    }
}

extension AttemptOutcome {
    /// What follows the last attempt that a policy allows.
    fileprivate func verdict(isIdempotent: Bool) -> AttemptVerdict {
        AttemptVerdict.after(
            self, attempt: 5, policy: RetryPolicy(), isIdempotent: isIdempotent, jitter: 1)
    }
}
