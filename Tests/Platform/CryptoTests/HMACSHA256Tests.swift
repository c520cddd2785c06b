import Crypto
import Testing

/// One of the test cases of RFC 4231, section 4.
struct MessageCodeExample: Sendable, CustomTestStringConvertible {
    let name: String
    let key: [UInt8]
    let message: [UInt8]
    let code: String

    var testDescription: String { name }

    static let all = [
        MessageCodeExample(
            name: "case 1", key: .init(repeating: 0x0b, count: 20),
            message: .init("Hi There".utf8),
            code: "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
        MessageCodeExample(
            name: "case 2", key: .init("Jefe".utf8),
            message: .init("what do ya want for nothing?".utf8),
            code: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
        MessageCodeExample(
            name: "case 3", key: .init(repeating: 0xaa, count: 20),
            message: .init(repeating: 0xdd, count: 50),
            code: "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
        MessageCodeExample(
            name: "case 4", key: .init(1...25), message: .init(repeating: 0xcd, count: 50),
            code: "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
        MessageCodeExample(
            name: "case 6", key: .init(repeating: 0xaa, count: 131),
            message: .init("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            code: "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
        MessageCodeExample(
            name: "case 7", key: .init(repeating: 0xaa, count: 131),
            message: .init(
                ("This is a test using a larger than block-size key and a larger than "
                    + "block-size data. The key needs to be hashed before being used by the "
                    + "HMAC algorithm.").utf8),
            code: "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"),
    ]
}

@Suite struct HMACSHA256Tests {
    @Test(arguments: MessageCodeExample.all)
    func `the RFC 4231 cases give their codes`(example: MessageCodeExample) {
        let key = HMACSHA256(key: example.key)
        #expect(Hex.encode(key.authenticate(example.message)) == example.code)
        #expect(
            HMACSHA256.authenticate(example.message, key: example.key)
                == key.authenticate(example.message))
    }

    @Test
    func `a truncated code of RFC 4231 case 5 is the start of the whole one and is not valid`() {
        let key = HMACSHA256(key: .init(repeating: 0x0c, count: 20))
        let message = [UInt8]("Test With Truncation".utf8)
        let start = Hex.decode("a3b6167473100ee06e0c796c2955552b")
        #expect(key.authenticate(message).prefix(16).elementsEqual(start ?? []))
        #expect(!key.isValid(start ?? [], parts: [message]))
    }

    @Test func `parts are one message`() {
        let key = HMACSHA256(key: [1, 2, 3])
        let whole = key.authenticate([9, 8, 7, 6])
        #expect(key.authenticate(parts: [[9], [], [8, 7], [6]]) == whole)
        #expect(key.isValid(whole, parts: [[9, 8], [7, 6]]))
        #expect(!key.isValid(whole, parts: [[9, 8], [7, 5]]))
    }

    @Test func `an empty key and an empty message have the known code`() {
        #expect(
            Hex.encode(HMACSHA256(key: []).authenticate(parts: []))
                == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
    }

    @Test func `one key serves many tasks at once`() async {
        let key = HMACSHA256(key: [UInt8]("Jefe".utf8))
        let differing = await withTaskGroup(of: Int.self) { group in
            for number in 0..<64 {
                group.addTask {
                    let message = [UInt8]("message \(number)".utf8)
                    let expected = HMACSHA256.authenticate(message, key: [UInt8]("Jefe".utf8))
                    return (0..<200).count { _ in key.authenticate(message) != expected }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(differing == 0)
    }

    @Test func `equal bytes are equal and nothing else is`() {
        #expect(constantTimeEquals([], []))
        #expect(constantTimeEquals([1, 2, 3], [1, 2, 3]))
        #expect(!constantTimeEquals([1, 2, 3], [1, 2, 4]))
        #expect(!constantTimeEquals([1, 2, 3], [1, 2]))
        #expect(!constantTimeEquals([], [0]))
    }
}
