import JSON
import Testing

@testable import Crypto

struct JWSTests {
    /// The ES256 example of RFC 7515, appendix A.3.
    private let example =
        "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFt"
        + "cGxlLmNvbS9pc19yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5d"
        + "jxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
    private let exampleKey: JSONValue = [
        "kty": "EC", "crv": "P-256", "kid": "joe",
        "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
    ]

    private func makeKey(_ changes: [String: JSONValue?] = [:]) -> SignatureKey? {
        var members = exampleKey.object?.members ?? []
        for (name, value) in changes {
            members.removeAll { $0.key == name }
            if let value { members.append((name, value)) }
        }
        return SignatureKey(jwk: .object(JSONObject(members)))
    }

    @Test func `the ES256 example of RFC 7515 verifies`() throws {
        let jws = try CompactJWS(parsing: example)
        let key = try #require(makeKey())
        #expect(jws.isSigned(by: key))
        #expect(try jws.payloadObject()["iss"] == "joe")
    }

    @Test func `a change of any one character is refused`() throws {
        let key = try #require(makeKey())
        for index in example.utf8.indices {
            var bytes = Array(example.utf8)
            let place = example.utf8.distance(from: example.utf8.startIndex, to: index)
            bytes[place] = bytes[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            guard let jws = try? CompactJWS(parsing: bytes) else { continue }
            #expect(!jws.isSigned(by: key), "character \(place)")
        }
    }

    @Test func `a text of another form is refused`() {
        let parts = example.split(separator: ".").map(String.init)
        let head = { (json: String) in Base64.encode(Array(json.utf8), alphabet: .urlSafe) }
        let texts = [
            "", ".", "..", "a.b", parts[0] + "." + parts[1], example + ".", example + "=",
            " " + example, example + "\n", parts[0] + "=." + parts[1] + "." + parts[2],
            head("[]") + "." + parts[1] + "." + parts[2],
            head("{\"alg\":1}") + "." + parts[1] + "." + parts[2],
            head("{\"alg\":\"ES256\",\"alg\":\"none\"}") + "." + parts[1] + "." + parts[2],
            head("{\"alg\":\"ES256\",\"crit\":[\"b64\"]}") + "." + parts[1] + "." + parts[2],
            head("{\"alg\":\"ES256\",\"b64\":false}") + "." + parts[1] + "." + parts[2],
            String(repeating: "A", count: 65_540) + "." + parts[1] + "." + parts[2],
        ]
        for text in texts {
            #expect(throws: JWSRefusal.malformed, "\(text.prefix(60))") {
                try CompactJWS(parsing: text)
            }
        }
    }

    @Test func `a key of another form is none`() {
        #expect(makeKey(["x": "AA"]) == nil)
        #expect(makeKey(["x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEV"]) == nil)
        #expect(makeKey(["crv": "P-384"]) == nil)
        #expect(makeKey(["kty": "oct"]) == nil)
        #expect(makeKey(["y": .some(nil)]) == nil)
        #expect(makeKey(["use": "enc"]) == nil)
        #expect(makeKey(["alg": "RS256"]) == nil)
        #expect(makeKey(["alg": "ES256", "use": "sig"]) != nil)
        let short: JSONValue = ["kty": "RSA", "n": "sXch", "e": "AQAB"]
        #expect(SignatureKey(jwk: short) == nil)
        #expect(SignatureKey(subjectPublicKeyInfo: []) == nil)
        #expect(SignatureKey(subjectPublicKeyInfo: [0x30, 0x80]) == nil)
    }

    @Test func `an RSA key with a foolish exponent is none`() {
        let modulus = Base64.encode([UInt8](repeating: 0xc5, count: 256), alphabet: .urlSafe)
        for (exponent, isTaken) in [
            ("AQAB", true), ("Aw", true), ("AQ", false), ("AA", false),
            ("BA", false), ("AQAAAAE", false), ("", false),
        ] {
            let jwk: JSONValue = ["kty": "RSA", "n": .string(modulus), "e": .string(exponent)]
            #expect((SignatureKey(jwk: jwk) != nil) == isTaken, "\(exponent)")
        }
    }

    @Test func `a signature of another length or of zeros is refused and never traps`() throws {
        let key = try #require(makeKey())
        for count in [0, 1, 63, 64, 65, 72, 2_000] {
            #expect(!key.isValid([UInt8](repeating: 0, count: count), of: [1, 2, 3]))
            #expect(!key.isValid([UInt8](repeating: 0xff, count: count), of: []))
        }
    }

    @Test func `a key set finds the key by its id, and its algorithm is the key's`() throws {
        let set = try #require(JSONWebKeySet(["keys": [exampleKey, ["kty": "oct", "kid": "x"]]]))
        #expect(set.holds(keyID: "joe"))
        #expect(!set.holds(keyID: "x"))
        #expect(set.verdict(on: try CompactJWS(parsing: example)) == .refused(.unknownKey))
        let none = Base64.encode(
            Array("{\"alg\":\"none\",\"kid\":\"joe\"}".utf8), alphabet: .urlSafe)
        #expect(
            set.verdict(on: try CompactJWS(parsing: none + ".e30.")) == .refused(.algorithm))
        let other = Base64.encode(
            Array("{\"alg\":\"RS256\",\"kid\":\"joe\"}".utf8), alphabet: .urlSafe)
        #expect(
            set.verdict(on: try CompactJWS(parsing: other + ".e30.AAAA")) == .refused(.algorithm))
    }

    @Test func `a key set without a usable key is none`() {
        #expect(JSONWebKeySet([:]) == nil)
        #expect(JSONWebKeySet(["keys": []]) == nil)
        #expect(JSONWebKeySet(["keys": [["kty": "oct", "kid": "x"]]]) == nil)
        #expect(JSONWebKeySet(parsing: Array("<html>".utf8)) == nil)
        let many = [JSONValue](repeating: exampleKey, count: 65)
        #expect(JSONWebKeySet(["keys": .array(many)]) == nil)
    }

    @Test func `the shipped root is the certificate it says it is`() {
        #expect(
            SHA256.hex(appleRootG3)
                == "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179")
    }

    @Test func `a chain of anything but three certificates of X.509 is refused`() {
        let judge = AppleSignatures.appStore
        #expect(throws: ChainRefusal.length) {
            try judge.key(ofChain: [appleRootG3], atMilliseconds: 0)
        }
        #expect(throws: ChainRefusal.malformed) {
            try judge.key(ofChain: [[], [1], [2]], atMilliseconds: 0)
        }
        #expect(throws: ChainRefusal.malformed) {
            let trailing = appleRootG3 + [0]
            return try judge.key(ofChain: [trailing, appleRootG3, appleRootG3], atMilliseconds: 0)
        }
        // The root issued itself and is an authority, but it is neither leaf nor intermediate of Apple's.
        #expect(throws: ChainRefusal.unmarkedLeaf) {
            try judge.key(ofChain: [appleRootG3, appleRootG3, appleRootG3], atMilliseconds: 0)
        }
    }
}
