import Crypto
import Testing

/// One of the Ed25519 test vectors of RFC 8032, section 7.1.
struct Ed25519Example: Sendable {
    let publicKey: String
    let message: String
    let signature: String

    static let all = [
        Ed25519Example(
            publicKey: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            message: "",
            signature: "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
                + "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"),
        Ed25519Example(
            publicKey: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            message: "72",
            signature: "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"),
        Ed25519Example(
            publicKey: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            message: "af82",
            signature: "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
                + "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"),
        Ed25519Example(
            publicKey: "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
            message: "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
            signature: "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b589"
                + "09351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704"),
    ]
}

@Suite struct SignatureTests {
    @Test(arguments: Ed25519Example.all)
    func `the RFC 8032 signatures verify and altered ones do not`(example: Ed25519Example) throws {
        let key = try #require(
            Hex.decode(example.publicKey).flatMap(Ed25519PublicKey.init(rawBytes:)))
        let message = try #require(Hex.decode(example.message))
        let signature = try #require(Hex.decode(example.signature))
        #expect(key.isValid(signature: signature, message: message))
        #expect(!key.isValid(signature: signature, message: message + [0]))
        for index in signature.indices {
            var altered = signature
            altered[index] ^= 1
            #expect(!key.isValid(signature: altered, message: message))
        }
        #expect(!key.isValid(signature: signature.dropLast(), message: message))
        #expect(!key.isValid(signature: signature + [0], message: message))
        #expect(!key.isValid(signature: [], message: message))
    }

    @Test func `a signature under another key is refused`() throws {
        let example = Ed25519Example.all[1]
        let other = try #require(
            Hex.decode(Ed25519Example.all[2].publicKey).flatMap(Ed25519PublicKey.init(rawBytes:)))
        let signature = try #require(Hex.decode(example.signature))
        #expect(!other.isValid(signature: signature, message: [0x72]))
    }

    @Test func `a key has 32 bytes`() {
        #expect(Ed25519PublicKey(rawBytes: []) == nil)
        #expect(Ed25519PublicKey(rawBytes: .init(repeating: 1, count: 31)) == nil)
        #expect(Ed25519PublicKey(rawBytes: .init(repeating: 1, count: 33)) == nil)
    }

    @Test func `bytes that are no point verify nothing`() throws {
        let key = try #require(Ed25519PublicKey(rawBytes: .init(repeating: 0xff, count: 32)))
        #expect(!key.isValid(signature: .init(repeating: 0, count: 64), message: []))
    }

    @Test func `signatures are checked from many tasks at once`() async throws {
        let example = Ed25519Example.all[2]
        let key = try #require(
            Hex.decode(example.publicKey).flatMap(Ed25519PublicKey.init(rawBytes:)))
        let signature = try #require(Hex.decode(example.signature))
        let valid = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<64 {
                group.addTask { key.isValid(signature: signature, message: [0xaf, 0x82]) }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(valid == 64)
    }

    @Test func `the Standard Webhooks example has its signature`() throws {
        let key = try #require(
            StandardWebhooksSignature.key(fromSecret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        #expect(key.count == 24)
        let signature = StandardWebhooksSignature.sign(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestampSeconds: 1_614_265_330,
            body: [UInt8](#"{"test": 2432232314}"#.utf8), key: key)
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test func `a secret is base64 with or without its prefix`() {
        let plain = StandardWebhooksSignature.key(fromSecret: "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        #expect(plain?.count == 24)
        #expect(StandardWebhooksSignature.key(fromSecret: "whsec_") == nil)
        #expect(StandardWebhooksSignature.key(fromSecret: "") == nil)
        #expect(StandardWebhooksSignature.key(fromSecret: "whsec_not base64") == nil)
    }

    @Test func `random bytes have the asked length and do not repeat`() {
        #expect(randomBytes(0) == [])
        #expect(randomBytes(32).count == 32)
        #expect(randomBytes(32) != randomBytes(32))
    }
}
