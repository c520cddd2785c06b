import FoundationEssentials
import JSON
import Testing

@testable import Crypto

/// `Tests/Fixtures/signatures/apple-chains.json`: texts signed by throw-away keys under a root of its own.
struct AppleSignatureTests {
    private let root: [UInt8]
    private let vectors: [JSONValue]

    init() throws {
        let package = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        let url = URL(fileURLWithPath: "/\(package)/Tests/Fixtures/signatures/apple-chains.json")
        let source = try JSONParser.parse(Array(try Data(contentsOf: url)))
        root = try #require(source["root"]?.string.flatMap { Base64.decode($0) })
        vectors = try #require(source["vectors"]?.array)
    }

    private let now: Int64 = 1_796_000_000_000

    private func name(_ verdict: JWSVerdict) -> String? {
        switch verdict {
        case .verified: nil
        case .refused(.chain(let refusal)): "chain \(refusal.rawValue)"
        case .refused(let refusal): Self.word(refusal)
        }
    }

    private static func word(_ refusal: JWSRefusal) -> String {
        switch refusal {
        case .malformed: "malformed"
        case .algorithm: "algorithm"
        case .unknownKey: "unknownKey"
        case .chain: "chain"
        case .signature: "signature"
        case .payload: "payload"
        }
    }

    @Test func `each broken rule is found and named`() throws {
        let judge = AppleSignatures(roots: [root])
        #expect(vectors.count == 21)
        // Twice: a chain that is remembered is judged as one that is seen for the first time.
        for vector in vectors + vectors {
            let text = try #require(vector["jws"]?.string)
            #expect(
                name(judge.verdict(on: text, nowMilliseconds: now)) == vector["refusal"]?.string,
                "\(vector["id"]?.string ?? "")")
        }
    }

    @Test func `without a root, or under another one, nothing is believed`() throws {
        let text = try #require(vectors.first?["jws"]?.string)
        for judge in [AppleSignatures(roots: []), .appStore, AppleSignatures(roots: [[1, 2]])] {
            #expect(
                judge.verdict(on: text, nowMilliseconds: now) == .refused(.chain(.untrusted)))
        }
        let both = AppleSignatures(roots: [appleRootG3, root])
        #expect(name(both.verdict(on: text, nowMilliseconds: now)) == nil)
    }

    @Test func `a text that tells no time is judged at the time given`() throws {
        let text = try #require(vectors[2]["jws"]?.string)
        let judge = AppleSignatures(roots: [root])
        #expect(name(judge.verdict(on: text, nowMilliseconds: now)) == nil)
        let late: Int64 = 2_600_000_000_000
        #expect(
            judge.verdict(on: text, nowMilliseconds: late) == .refused(.chain(.outsideValidity)))
    }

    @Test func `texts are judged from many tasks at once`() async throws {
        let judge = AppleSignatures(roots: [root])
        let text = try #require(vectors.first?["jws"]?.string)
        let now = now
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<32 {
                group.addTask {
                    if case .verified = judge.verdict(on: text, nowMilliseconds: now) {
                        true
                    } else {
                        false
                    }
                }
            }
            for await isBelieved in group { #expect(isBelieved) }
        }
    }

    @Test func `a text cut short at any place is refused and never traps`() throws {
        let judge = AppleSignatures(roots: [root])
        let text = try #require(vectors.first?["jws"]?.string)
        for count in stride(from: 0, to: text.count, by: 7) {
            let verdict = judge.verdict(on: String(text.prefix(count)), nowMilliseconds: now)
            #expect(name(verdict) != nil)
        }
    }
}
