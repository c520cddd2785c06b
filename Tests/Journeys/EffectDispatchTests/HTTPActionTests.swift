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

    @Test func `the published vector of Standard Webhooks is signed as published`() throws {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        let action = HTTPAction(
            account: try DispatchWorld.account([
                "base_url": "https://crm.example.com", "secret": .string(secret),
            ]), invocation: InvocationID("msg_p5jXN8AQM9LWM0D4loKWxJek"),
            request: JSONObject([("path", "/x"), ("body", #"{"test": 2432232314}"#)]),
            timeout: .seconds(7))
        let call = try action.makeCall(now: Instant(milliseconds: 1_614_265_330_000))
        let signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        #expect(value("webhook-signature", in: call) == [signature])
        #expect(value("webhook-timestamp", in: call) == ["1614265330"])
        // And what was signed here is accepted by who checks it.
        let key = try #require(StandardWebhooksSignature.key(fromSecret: secret))
        #expect(
            StandardWebhooksSignature.sign(
                id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestampSeconds: 1_614_265_330,
                body: call.body ?? [], key: key) == signature)
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
}
