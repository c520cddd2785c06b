import Crypto
import HTTPClient
import JSON
import JourneyEngine
import JourneyModel
import Settings
import Testing
import TimeZones
import WorkflowDefinitions

@testable import EffectDispatch

/// The request that an `http` action becomes, and the reading of its answer.
@Suite struct HTTPActionTests {
    private func action(
        _ request: JSONObject, _ account: JSONValue = ["base_url": "https://crm.example.com"]
    ) throws -> HTTPAction {
        HTTPAction(
            account: try DispatchWorld.account(account), invocation: DispatchWorld.invocation,
            request: request, timeout: .seconds(7))
    }

    private func call(
        _ request: JSONObject, _ account: JSONValue = ["base_url": "https://crm.example.com"]
    ) throws -> HTTPCall {
        try action(request, account).makeCall(now: DispatchWorld.now)
    }

    private func value(_ name: String, in call: HTTPCall) -> [String] {
        call.headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    // MARK: The call

    @Test func `every request carries the key, and its time`() throws {
        let call = try call(JSONObject([("path", "/x"), ("json", ["a": 1])]))
        #expect(call.method == "POST")
        #expect(call.body == Array(#"{"a":1}"#.utf8))
        #expect(call.timeout == .seconds(7))
        #expect(value("idempotency-key", in: call) == [DispatchWorld.invocation.text])
        #expect(value("webhook-id", in: call) == [DispatchWorld.invocation.text])
        #expect(value("webhook-timestamp", in: call) == ["1775000000"])
        #expect(value("content-type", in: call) == ["application/json"])
        #expect(value("webhook-signature", in: call).isEmpty)
    }

    @Test(arguments: [
        (
            "whsec_" + Base64.encode(Array(repeating: 7, count: 24)),
            Array(repeating: UInt8(7), count: 24)
        ),
        ("plain text, no base64", Array("plain text, no base64".utf8)),
    ])
    func `the signature is the one a receiver computes`(secret: String, key: [UInt8]) throws {
        let call = try call(
            JSONObject([("path", "/x"), ("body", "text")]),
            ["base_url": "https://crm.example.com", "secret": .string(secret)])
        let signed = StandardWebhooksSignature.sign(
            id: DispatchWorld.invocation.text, timestampSeconds: 1_775_000_000,
            body: Array("text".utf8), key: key)
        #expect(value("webhook-signature", in: call) == [signed])
        #expect(value("content-type", in: call).isEmpty)
    }

    @Test func `a request without a body is signed as an empty one`() throws {
        let call = try call(
            JSONObject([("path", "/x"), ("method", "DELETE")]),
            ["base_url": "https://crm.example.com", "secret": "some text key"])
        #expect(call.method == "DELETE")
        #expect(call.body == nil)
        let signed = StandardWebhooksSignature.sign(
            id: DispatchWorld.invocation.text, timestampSeconds: 1_775_000_000, body: [],
            key: Array("some text key".utf8))
        #expect(value("webhook-signature", in: call) == [signed])
    }

    @Test(arguments: [
        ("https://a.example", "/p", "https://a.example/p"),
        ("https://a.example/", "/p", "https://a.example/p"),
        ("https://a.example/v1", "p?q=1", "https://a.example/v1/p?q=1"),
        ("https://a.example/v1/", "", "https://a.example/v1"),
        ("http://a.example:81", "@b.example/", "http://a.example:81/@b.example/"),
        ("https://a.example/v1", "/a b/é", "https://a.example/v1/a%20b/%C3%A9"),
        ("https://a.example/v1", "/..%2Fx/.hidden", "https://a.example/v1/..%2Fx/.hidden"),
    ])
    func `base URL and path are joined by one slash`(
        base: String, path: String, url: String
    ) throws {
        let call = try call(JSONObject([("path", .string(path))]), ["base_url": .string(base)])
        #expect(call.url == url)
    }

    @Test func `the account's headers win over the workflow's, and the worker's over both`() throws
    {
        let call = try call(
            JSONObject([
                ("path", "/x"), ("json", [:]),
                (
                    "headers",
                    [
                        "X-Team": "workflow", "x-mine": "kept", "webhook-id": "forged",
                        "content-type": "application/vnd.api+json", "X-Number": 5,
                    ]
                ),
            ]),
            [
                "base_url": "https://crm.example.com",
                "headers": ["x-team": "account", "Authorization": "Bearer t"],
            ])
        #expect(value("X-Team", in: call) == ["account"])
        #expect(value("X-Mine", in: call) == ["kept"])
        #expect(value("X-Number", in: call) == ["5"])
        #expect(value("Authorization", in: call) == ["Bearer t"])
        #expect(value("webhook-id", in: call) == [DispatchWorld.invocation.text])
        #expect(value("Content-Type", in: call) == ["application/vnd.api+json"])
    }

    @Test func `a url goes only where the account's list lets it`() throws {
        let request = JSONObject([("url", "https://elsewhere.example/x")])
        let bound = try call(request, ["base_url": "https://crm.example.com"])
        #expect(bound.url == "https://elsewhere.example/x")
        #expect(bound.destination == DestinationPolicy(allowedHosts: ["crm.example.com"]))
        let listed = try call(
            request, ["allow_hosts": ["ELSEWHERE.example"], "allow_private": true])
        #expect(
            listed.destination
                == DestinationPolicy(allowsPrivate: true, allowedHosts: ["elsewhere.example"]))
        #expect(try call(request, [:]).destination.allowedHosts == nil)
    }

    @Test(arguments: ["/../admin", "/a/..", "/a/%2e%2E/b", "./x", "/x/.%2e?y"])
    func `no path leads out of the base URL`(path: String) throws {
        let climbing = try action(JSONObject([("path", .string(path))]))
        do {
            _ = try climbing.makeCall(now: DispatchWorld.now)
            Issue.record("\(path) was taken")
        } catch {
            #expect(error.error == "bad_path")
        }
    }

    @Test func `an account for https goes nowhere in clear text`() throws {
        let clear = try action(
            JSONObject([("url", "http://crm.example.com/x")]),
            ["base_url": "https://crm.example.com"])
        do {
            _ = try clear.makeCall(now: DispatchWorld.now)
            Issue.record("http was taken")
        } catch {
            #expect(error.error == "insecure_url")
        }
    }

    @Test func `what cannot be sent at all fails with a word and is not repeated`() throws {
        let noBase = try action(JSONObject([("path", "/x")]), [:])
        #expect(throws: AttemptFailure.self) { try noBase.makeCall(now: DispatchWorld.now) }
        let badHeader = try action(
            JSONObject([("path", "/x"), ("headers", ["X": ["a": 1]])]))
        do {
            _ = try badHeader.makeCall(now: DispatchWorld.now)
            Issue.record("a header that is no text was taken")
        } catch {
            #expect(error.error == "bad_header")
            #expect(error.retryCause == nil)
        }
    }

    // MARK: The answer

    private func outcome(_ answer: HTTPAnswer) throws -> AttemptOutcome {
        try action(JSONObject([("path", "/x")])).outcome(of: answer)
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
        let large = Array(repeating: UInt8(ascii: "x"), count: HTTPAction.resultLimit)
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
            ("7", .seconds(7)), ("0", .zero), ("-5", .zero), ("99999999", .seconds(86_400)),
            ("Wed, 21 Oct 2026 07:28:00 GMT", nil), ("", nil), ("9999999999999999999999", nil),
        ] as [(String, Duration?)])
    func `Retry-After is read in seconds, at most a day`(text: String, wait: Duration?) throws {
        let answer = HTTPAnswer(
            status: 503, headers: [HTTPHeaderField(name: "retry-after", value: text)])
        guard case .failed(let failure) = try outcome(answer) else {
            Issue.record("not a certain failure")
            return
        }
        #expect(failure.retryAfter == wait)
    }

    @Test func `an error's excerpt is at most 4 KB`() throws {
        let answer = HTTPAnswer(status: 400, body: Array(repeating: 0x61, count: 100_000))
        guard case .failed(let failure) = try outcome(answer) else { return }
        #expect(failure.detail["body"]?.string?.utf8.count == HTTPAction.excerptLimit)
    }

    @Test(
        arguments: [
            (.timedOut, "timeout"), (.brokenConnection, "network"), (.connectFailed, "network"),
            (.cancelled, "network"), (.tls("x"), "network"), (.unresolvedHost, "network"),
            (.tooManyCalls, "network"),
        ] as [(HTTPClientError.Kind, String)])
    func `without an answer, only a request that never left is a certain failure`(
        kind: HTTPClientError.Kind, word: String
    ) {
        for mayHaveBeenSent in [true, false] {
            let outcome = HTTPAction.outcome(
                of: HTTPClientError(kind: kind, requestMayHaveBeenSent: mayHaveBeenSent))
            #expect(outcome.isAmbiguous == mayHaveBeenSent)
            #expect(outcome.word == word)
        }
    }

    @Test func `a refused destination is certain and not repeated`() {
        for kind in [HTTPClientError.Kind.destinationRefused("x"), .invalidCall("y")] {
            let outcome = HTTPAction.outcome(
                of: HTTPClientError(kind: kind, requestMayHaveBeenSent: false))
            guard case .failed(let failure) = outcome else {
                Issue.record("not a certain failure")
                return
            }
            #expect(failure.retryCause == nil)
        }
    }
}
