import JSON
import TestMaterial
import Testing

@Suite struct JSONParserTests {
    @Test(arguments: [
        ("", 0, JSONError.Kind.unexpectedEnd), ("[1,]", 3, .syntax),
        ("{\"a\":1}x", 7, .trailingText),
        ("{\"a\":1,\"a\":2}", 7, .duplicateKey("a")), ("\"\\ud800\"", 7, .loneSurrogate),
        ("\"\\u0000\"", 7, .nulCharacter), ("tru", 3, .unexpectedEnd), ("{\"a\" 1}", 5, .syntax),
        ("[01]", 2, .syntax), ("\u{feff}1", 0, .syntax), ("\"a\nb\"", 2, .syntax),
    ])
    func `a refusal says what and where`(text: String, offset: Int, kind: JSONError.Kind) {
        #expect(throws: JSONError(kind: kind, offset: offset)) { try JSONParser.parse(text) }
    }

    @Test func `bytes that are not UTF-8 are refused`() {
        for bytes: [UInt8] in [
            [0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80],
        ] {
            #expect(throws: JSONError(kind: .invalidUTF8, offset: 1)) {
                try JSONParser.parse([0x22] + bytes + [0x22], options: .webhook)
            }
        }
    }

    @Test func `a webhook takes the last of two keys and replaces what cannot be stored`() throws {
        let text = #"{"a":1,"b":"\u0000\ud800\ude00\ud800x\ude00","a":2}"#
        let document = try JSONParser.parseCounting(Array(text.utf8), options: .webhook)
        #expect(document.value.text == "{\"a\":2,\"b\":\"\u{fffd}\u{10200}\u{fffd}x\u{fffd}\"}")
        #expect(document.replacements == 3)
    }

    @Test func `what stood in the first value of a key given twice has no place`() throws {
        let text = #"{"a":{"b":1,"c":2},"a":{"b":3}}"#
        let document = try JSONParser.parseDocument(Array(text.utf8), options: .webhook)
        #expect(Set(document.offsets.keys.map(\.description)) == ["", "/a", "/a/b"])
        #expect(document.offsets[JSONPointer(tokens: ["a", "b"])] == 24)
    }

    @Test func `nesting is bounded`() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(throws: Never.self) { try JSONParser.parse(nested(64)) }
        #expect(throws: JSONError(kind: .tooDeep, offset: 64)) { try JSONParser.parse(nested(65)) }
        #expect(throws: JSONError(kind: .tooDeep, offset: 64)) {
            try JSONParser.parse(String(repeating: "[", count: 1_000_000), options: .webhook)
        }
    }

    /// Quadratic work would take minutes here, not the blink it takes.
    @Test func `a hundred thousand keys are read, found double, and compared`() throws {
        let members = (0..<100_000).map { "\"k\($0)\":1" }
        let bytes = Array(("{" + members.joined(separator: ",") + "}").utf8)
        let forth = try JSONParser.parse(bytes)
        #expect(forth.object?.count == 100_000)
        let reversed = "{" + members.reversed().joined(separator: ",") + "}"
        #expect(try JSONParser.parse(reversed) == forth)
        let doubled = Array(("{" + (members + members).joined(separator: ",") + "}").utf8)
        #expect(throws: JSONError.self) { try JSONParser.parse(doubled) }
        #expect(try JSONParser.parse(doubled, options: .webhook) == forth)
    }

    @Test func `the place of every value is kept`() throws {
        let text = #"{"a": [10, {"b/c": true}]}"#
        let offsets = try JSONParser.parseDocument(Array(text.utf8)).offsets
        let wanted = ["": 0, "/a": 1, "/a/0": 7, "/a/1": 11, "/a/1/b~1c": 12]
        #expect(
            offsets.reduce(into: [:]) { $0[$1.key.description] = $1.value } == wanted)
    }

    @Test func `lines and columns count as editors do`() {
        let bytes = Array("{\n  \"é\": 1\r\n}".utf8)
        func place(_ offset: Int) -> [Int] {
            let found = lineAndColumn(ofByte: offset, in: bytes)
            return [found.line, found.column]
        }
        #expect(place(0) == [1, 1])
        #expect(place(1) == [1, 2])
        #expect(place(2) == [2, 1])
        #expect(place(5) == [2, 4])
        #expect(place(6) == [2, 4])
        #expect(place(7) == [2, 5])
        #expect(place(10) == [2, 8])
        #expect(place(-5) == [1, 1])
        #expect(place(1_000) == [3, 2])
        #expect(lineAndColumn(ofByte: 0, in: []) == (1, 1))
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `no bytes make the parser trap`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let seeds = [
            #"{"a":[1,-2.5e+10,"x\u00e9\ud83d\ude00\n",true,false,null,{"b":{}}],"c":""}"#,
            #"[[[[{"k":"v","k2":[0.1,1E5]}]]]]"#,
        ].map { Array($0.utf8) }
        for _ in 0..<5_000 {
            var bytes = seeds[Int.random(in: 0..<2, using: &generator)]
            for _ in 0..<Int.random(in: 1...6, using: &generator) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes.remove(at: place)
                case 2:
                    bytes.insert(
                        Array(#"{}[]",:\u0"#.utf8).randomElement(using: &generator) ?? 0, at: place)
                default: bytes.removeSubrange(place...)
                }
            }
            for options in [JSONParser.Options.definition, .webhook] {
                guard let value = try? JSONParser.parse(bytes, options: options) else { continue }
                let again = try? JSONParser.parse(value.bytes, options: options)
                #expect(again == value, "seed=\(seed)")
                _ = value.canonicalBytes
            }
        }
    }

    @Test(arguments: [11, 12, 13] as [UInt64])
    func `what is written is read back the same`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let value = randomValue(depth: 0, &generator)
            #expect(try JSONParser.parse(value.bytes) == value, "seed=\(seed)")
            #expect(try JSONParser.parse(value.pretty) == value, "seed=\(seed)")
            let canonical = try JSONParser.parse(value.canonicalBytes)
            #expect(canonical.canonicalBytes == value.canonicalBytes, "seed=\(seed)")
        }
    }

    private func randomValue(depth: Int, _ generator: inout SeededGenerator) -> JSONValue {
        switch Int.random(in: 0..<(depth > 4 ? 4 : 6), using: &generator) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &generator))
        case 2:
            let exponent = Int.random(in: -400...400, using: &generator)
            let digits = Int64.random(in: .min ... .max, using: &generator)
            let literal = Bool.random(using: &generator) ? "\(digits)" : "\(digits)e\(exponent)"
            return JSONNumber(literal: literal).map { .number($0) } ?? .null
        case 3: return .string(randomText(&generator))
        case 4:
            return .array(
                (0..<Int.random(in: 0...4, using: &generator)).map { _ in
                    randomValue(depth: depth + 1, &generator)
                })
        default:
            var object = JSONObject()
            for _ in 0..<Int.random(in: 0...4, using: &generator) {
                object[randomText(&generator)] = randomValue(depth: depth + 1, &generator)
            }
            return .object(object)
        }
    }

    private func randomText(_ generator: inout SeededGenerator) -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0...8, using: &generator) {
            let limit: UInt32 = Bool.random(using: &generator) ? 0x80 : 0x10ffff
            let scalar = Unicode.Scalar(UInt32.random(in: 1...limit, using: &generator))
            text.unicodeScalars.append(scalar ?? "?")
        }
        return text
    }
}
