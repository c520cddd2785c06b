import Crypto
import Testing

@Suite struct DigestTests {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func `the FIPS 180 examples give their digests`(text: String, digest: String) {
        #expect(SHA256.hex(text) == digest)
        #expect(SHA256.digest([UInt8](text.utf8)) == Hex.decode(digest))
    }

    @Test func `a million letters in pieces give the FIPS digest`() {
        var hasher = SHA256Hasher()
        for _ in 0..<1_000 { hasher.update([UInt8](repeating: UInt8(ascii: "a"), count: 1_000)) }
        let digest = hasher.finish()
        #expect(
            Hex.encode(digest) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        )
    }

    @Test func `the cut of the pieces does not matter`() {
        let bytes = (0..<300).map { UInt8(truncatingIfNeeded: $0) }
        for cut in 0...bytes.count {
            var hasher = SHA256Hasher()
            hasher.update([UInt8](bytes[..<cut]))
            hasher.update([UInt8](bytes[cut...]))
            #expect(hasher.finish() == SHA256.digest(bytes))
        }
    }

    @Test func `an unfinished digest is given up without harm`() {
        var hasher = SHA256Hasher()
        hasher.update("abc")
    }
}
