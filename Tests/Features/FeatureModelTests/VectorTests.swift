import FeatureModel
import JSON
import TestMaterial
import TestSupport
import Testing

/// Public cases that concern values alone. Those that need a server are in FeatureServiceTests.
struct VectorTests {
    private func vectors(_ path: String) throws -> JSONValue? {
        guard let folder = Conformance.folder("nuxie/newer") else { return nil }
        let bytes = try #require(Conformance.bytes(of: "\(folder)/\(path).json"))
        return try JSONParser.parse(bytes)
    }

    @Test func `receipts look on the wire as the public ones, and read back`() throws {
        guard let file = try vectors("feature-consumption") else { return }
        let cases = try #require(file["vectors"]?.array)
        for item in cases {
            let wire = try #require(item["response"])
            let receipt = try #require(Receipt(wire: wire), "\(wire.text)")
            let isReplay = wire["idempotentReplay"]?.bool ?? false
            #expect(receipt.wire(isReplay: isReplay) == wire)
        }
        #expect(Conformance.require(count: cases.count, expected: 4, of: "consumption") == nil)
    }

    @Test func `a server's wish to be left alone is understood and kept`() throws {
        guard let file = try vectors("command-recovery") else { return }
        let cases = try #require(file["vectors"]?.array)
        for item in cases {
            let header = try #require(item["retryAfter"]?.string)
            let wish = try #require(RetryAfter(header: header))
            #expect(wish.milliseconds == item["retryAfterMillis"]?.integer)
            #expect(wish.firstDelayMilliseconds == item["firstRetryDelayMillis"]?.integer)
        }
        #expect(Conformance.require(count: cases.count, expected: 3, of: "recovery") == nil)
    }

    @Test(arguments: ["", "-1", "soon", "1.", ".5", "1e3", "Mon, 30 Nov 2026 10:00:00 GMT"])
    func `a header that says no seconds is none`(text: String) {
        #expect(RetryAfter(header: text) == nil)
    }

    @Test func `verified purchases widen what a device shows, and nothing narrows it`() throws {
        guard let file = try vectors("optimistic-entitlement-projection") else { return }
        let cases = try #require(file["cases"]?.array)
        var transitions = 0
        for item in cases {
            try check(item, evidence: item["evidence"], descriptors: item["descriptors"])
            for next in item["transitions"]?.array ?? [] {
                transitions += 1
                try check(next, evidence: item["evidence"], descriptors: item["descriptors"])
            }
        }
        #expect(Conformance.require(count: cases.count, expected: 13, of: "projection") == nil)
        #expect(Conformance.require(count: transitions, expected: 2, of: "transitions") == nil)
    }

    private func check(
        _ item: JSONValue, evidence: JSONValue?, descriptors: JSONValue?
    ) throws {
        let name = item["name"]?.string ?? ""
        let overlay = PurchaseOverlay(
            customer: try #require(item["distinctId"]?.string),
            evidence: try (evidence?.array ?? []).map(Self.evidence),
            descriptors: try Self.descriptors(descriptors))
        var authoritative: [String: FeatureAccess] = [:]
        for (feature, access) in item["authoritative"]?.object ?? JSONObject() {
            authoritative[feature] = try Self.access(access)
        }
        var visible: [String: FeatureAccess] = [:]
        for (feature, access) in item["expectedVisible"]?.object ?? JSONObject() {
            visible[feature] = try Self.access(access)
        }
        #expect(overlay.widening(authoritative) == visible, "\(name)")
        let expected = item["expectedOverlay"]?.object ?? JSONObject()
        #expect(Set(overlay.additions.keys) == Set(expected.keys), "\(name)")
        for (feature, addition) in overlay.additions {
            let wanted = try #require(expected[feature])
            #expect(addition.type.rawValue == wanted["kind"]?.string, "\(name)")
            #expect(addition.isUnlimited == wanted["unlimited"]?.bool, "\(name)")
            #expect(addition.allowance.map { Int64($0) } == wanted["allowance"]?.integer, "\(name)")
        }
    }

    private static func access(_ json: JSONValue) throws -> FeatureAccess {
        let access = FeatureAccess(wire: json, allowed: json["allowed"])
        return try #require(access)
    }

    private static func evidence(_ item: JSONValue) throws -> PurchaseOverlay.Evidence {
        PurchaseOverlay.Evidence(
            transaction: try #require(item["transactionId"]?.string),
            customer: try #require(item["distinctId"]?.string),
            isSynced: item["backendSynced"] == true,
            isRevoked: item["revoked"] == true)
    }

    private static func descriptors(
        _ json: JSONValue?
    ) throws -> [String: [PurchaseOverlay.Descriptor]] {
        var read: [String: [PurchaseOverlay.Descriptor]] = [:]
        for (transaction, list) in json?.object ?? JSONObject() {
            read[transaction] = try (list.array ?? []).map { item in
                PurchaseOverlay.Descriptor(
                    feature: try #require(item["featureId"]?.string),
                    type: try #require(
                        item["kind"]?.string.flatMap(FeatureType.init(rawValue:))),
                    isUnlimited: item["unlimited"]?.bool ?? false,
                    allowance: Int(item["allowance"]?.integer ?? 0))
            }
        }
        return read
    }
}
