import Crypto
import Testing

@Suite struct EncodingTests {
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
        ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ])
    func `the RFC 4648 examples are written and read`(text: String, encoded: String) {
        let bytes = [UInt8](text.utf8)
        #expect(Base64.encode(bytes) == encoded)
        #expect(Base64.decode(encoded) == bytes)
        let unpadded = String(encoded.prefix { $0 != "=" })
        #expect(Base64.encode(bytes, alphabet: .urlSafe) == unpadded)
        #expect(Base64.encode(bytes, isPadded: false) == unpadded)
        #expect(Base64.encode(bytes, alphabet: .urlSafe, isPadded: true) == encoded)
        #expect(Base64.decode(unpadded, alphabet: .urlSafe) == bytes)
        #expect(Base64.decode(unpadded, padding: .optional) == bytes)
        #expect(Base64.decode(encoded, padding: .optional) == bytes)
    }

    @Test func `the alphabets differ in two symbols and are not mixed`() {
        let bytes: [UInt8] = [0xfb, 0xff, 0xfe]
        #expect(Base64.encode(bytes) == "+//+")
        #expect(Base64.encode(bytes, alphabet: .urlSafe) == "-__-")
        #expect(Base64.decode("-__-") == nil)
        #expect(Base64.decode("+//+", alphabet: .urlSafe) == nil)
    }

    @Test(arguments: [
        "Zg", "Zg=", "Zm8", "Zg===", "Zh==", "Zm9=", "Z", "Z===", "====", "=", "Zg==Zg==", "Z=g=",
        "Zm9v\n", " Zm9v", "Zm 9v", "Zm9v\r\nZm9v", "Zm9*", "Zm9\u{e9}", "Zm9\0", "Zm9v====",
    ])
    func `a text that is not canonical base64 is refused`(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test(arguments: ["Zg==", "Zm8=", "Zh", "Zm9", "Z", "Zg=", "="])
    func `a url-safe text with padding or stray bits is refused`(text: String) {
        #expect(Base64.decode(text, alphabet: .urlSafe) == nil)
    }

    @Test(arguments: ["Zg=", "Zg===", "Zm8==", "Z", "Zh=="])
    func `optional padding is whole or absent`(text: String) {
        #expect(Base64.decode(text, padding: .optional) == nil)
    }

    @Test func `every length and every byte comes back`() {
        for count in 0..<260 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ count) }
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
            let urlSafe = Base64.encode(bytes, alphabet: .urlSafe)
            #expect(Base64.decode(urlSafe, alphabet: .urlSafe) == bytes)
            #expect(Hex.decode(Hex.encode(bytes)) == bytes)
        }
    }

    @Test func `of all four-symbol ends only the canonical ones are read`() {
        let symbols = Array(Base64.encode(Array(0...255)).utf8)
        let readable = Set(symbols).count { Base64.decode([0x5a, $0, 0x3d, 0x3d]) != nil }
        #expect(readable == 4)
    }

    @Test func `hexadecimal is written small and read in both cases`() {
        #expect(Hex.encode([0x00, 0x0f, 0xa0, 0xff]) == "000fa0ff")
        #expect(Hex.decode("000fA0Ff") == [0x00, 0x0f, 0xa0, 0xff])
        #expect(Hex.encode([]) == "")
        #expect(Hex.decode("") == [])
    }

    @Test(arguments: ["0", "0x00", "0g", "00 ", " 00", "00:00", "\u{ff10}0", "-1", "+1"])
    func `a text that is not hexadecimal is refused`(text: String) {
        #expect(Hex.decode(text) == nil)
    }
}
