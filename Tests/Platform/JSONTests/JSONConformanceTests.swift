import JSON
import TestMaterial
import Testing

@Suite struct JSONConformanceTests {
    /// The suite's texts hold duplicate keys and `\u0000`, which definitions refuse on purpose: only
    /// the reading of webhooks admits all that RFC 8259 admits.
    @Test func `every text that must be accepted is accepted as a webhook`() throws {
        guard let suite = Conformance.folder("suites/json-test-suite") else { return }
        let names = Conformance.names(in: suite + "/test_parsing").filter { $0.hasPrefix("y_") }
        #expect(names.count == 95)
        print("json-test-suite: \(names.count) y_ files checked")
        var refusedInDefinitions: [String] = []
        for name in names {
            let bytes = try #require(Conformance.bytes(of: "\(suite)/test_parsing/\(name)"))
            #expect(throws: Never.self, "\(name)") {
                try JSONParser.parse(bytes, options: .webhook)
            }
            if (try? JSONParser.parse(bytes)) == nil { refusedInDefinitions.append(name) }
        }
        #expect(
            refusedInDefinitions == [
                "y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json",
                "y_object_escaped_null_in_key.json", "y_string_null_escape.json",
            ])
    }

    @Test func `every text that must be refused is refused`() throws {
        guard let suite = Conformance.folder("suites/json-test-suite") else { return }
        let names = Conformance.names(in: suite + "/test_parsing").filter { $0.hasPrefix("n_") }
        #expect(names.count == 188)
        print("json-test-suite: \(names.count) n_ files checked")
        for name in names {
            let bytes = try #require(Conformance.bytes(of: "\(suite)/test_parsing/\(name)"))
            for options in [JSONParser.Options.webhook, .definition] {
                #expect(throws: JSONError.self, "\(name)") {
                    try JSONParser.parse(bytes, options: options)
                }
            }
        }
    }

    @Test func `where the standard leaves it open this is what happens`() throws {
        guard let suite = Conformance.folder("suites/json-test-suite") else { return }
        let names = Conformance.names(in: suite + "/test_parsing").filter { $0.hasPrefix("i_") }
        #expect(names.count == 35)
        print("json-test-suite: \(names.count) i_ files checked")
        var seen: [String: [String]] = [:]
        for name in names {
            let bytes = try #require(Conformance.bytes(of: "\(suite)/test_parsing/\(name)"))
            let outcome = outcome(bytes, .definition) + " / " + outcome(bytes, .webhook)
            seen[outcome, default: []].append(String(name.dropFirst(2).dropLast(5)))
        }
        #expect(seen == Self.leftOpen)
    }

    @Test func `what a reader might change is kept or refused`() throws {
        guard let suite = Conformance.folder("suites/json-test-suite") else { return }
        let names = Conformance.names(in: suite + "/test_transform")
        #expect(names.count == 22)
        print("json-test-suite: \(names.count) transformations checked")
        var seen: [String: String] = [:]
        for name in names {
            let bytes = try #require(Conformance.bytes(of: "\(suite)/test_transform/\(name)"))
            let read = try? JSONParser.parse(bytes, options: .webhook)
            seen[String(name.dropLast(5))] =
                outcome(bytes, .definition) + " / " + (read?.text ?? "refused")
        }
        #expect(seen == Self.transformed)
    }

    @Test func `the canonical form is the published one byte for byte`() throws {
        guard let suite = Conformance.folder("suites/jcs-rfc8785") else { return }
        let names = Conformance.names(in: suite + "/input")
        #expect(names.count == 6)
        print("jcs-rfc8785: \(names.count) files checked")
        for name in names {
            let value = try JSONParser.parse(
                #require(Conformance.bytes(of: "\(suite)/input/\(name)")))
            let wanted = try #require(Conformance.bytes(of: "\(suite)/output/\(name)"))
            #expect(value.canonicalBytes == wanted, "\(name)")
            let hex = try #require(Conformance.bytes(of: "\(suite)/outhex/\(name.dropLast(5)).txt"))
            let words = String(decoding: hex, as: UTF8.self).split { $0 == " " || $0.isNewline }
            #expect(value.canonicalBytes == words.compactMap { UInt8($0, radix: 16) }, "\(name)")
        }
    }

    /// A `test` holds when the pointer finds an equal value; `remove` and `replace` of one place
    /// succeed exactly when the pointer finds something.
    @Test func `pointers find what the patch suite says they find`() throws {
        guard let suite = Conformance.folder("suites/json-patch") else { return }
        var count = 0
        for file in ["tests.json", "spec_tests.json"] {
            let rows = try JSONParser.parse(
                #require(Conformance.bytes(of: "\(suite)/\(file)")), options: .webhook)
            for row in rows.array ?? [] where row["disabled"]?.bool != true {
                guard let patch = row["patch"]?.array, patch.count == 1, let document = row["doc"],
                    let operation = patch[0]["op"]?.string, let path = patch[0]["path"]?.string
                else { continue }
                let found = JSONPointer(path).flatMap { $0.resolve(in: document) }
                let succeeds = row["error"] == nil
                switch operation {
                case "test":
                    guard let wanted = patch[0]["value"] else { continue }
                    #expect((found == wanted) == succeeds, "\(row.text)")
                case "remove": #expect((found != nil) == succeeds, "\(row.text)")
                case "replace" where patch[0]["value"] != nil:
                    #expect((found != nil) == succeeds, "\(row.text)")
                default: continue
                }
                count += 1
            }
        }
        #expect(count == 39)
        print("json-patch: \(count) pointer rows checked")
    }

    private func outcome(_ bytes: [UInt8], _ options: JSONParser.Options) -> String {
        do {
            _ = try JSONParser.parse(bytes, options: options)
            return "accepted"
        } catch {
            return "\(error.kind)"
        }
    }

    /// As a definition / as a webhook.
    private static let leftOpen = [
        "accepted / accepted": [
            "number_double_huge_neg_exp",
            "number_huge_exp",
            "number_neg_int_huge_exp",
            "number_pos_double_huge_exp",
            "number_real_neg_overflow",
            "number_real_pos_overflow",
            "number_real_underflow",
            "number_too_big_neg_int",
            "number_too_big_pos_int",
            "number_very_big_negative_int",
        ],
        "loneSurrogate / accepted": [
            "object_key_lone_2nd_surrogate",
            "string_1st_surrogate_but_2nd_missing",
            "string_1st_valid_surrogate_2nd_invalid",
            "string_incomplete_surrogate_and_escape_valid",
            "string_incomplete_surrogate_pair",
            "string_incomplete_surrogates_escape_valid",
            "string_invalid_lonely_surrogate",
            "string_invalid_surrogate",
            "string_inverted_surrogates_U+1D11E",
            "string_lone_second_surrogate",
        ],
        "syntax / syntax": [
            "string_UTF-16LE_with_BOM",
            "string_utf16BE_no_BOM",
            "string_utf16LE_no_BOM",
            "structure_UTF-8_BOM_empty_object",
        ],
        "invalidUTF8 / invalidUTF8": [
            "string_UTF-8_invalid_sequence",
            "string_UTF8_surrogate_U+D800",
            "string_invalid_utf-8",
            "string_iso_latin_1",
            "string_lone_utf8_continuation_byte",
            "string_not_in_unicode_range",
            "string_overlong_sequence_2_bytes",
            "string_overlong_sequence_6_bytes",
            "string_overlong_sequence_6_bytes_null",
            "string_truncated-utf-8",
        ],
        "tooDeep / tooDeep": [
            "structure_500_nested_arrays"
        ],
    ]

    /// As a definition / as a webhook, written again.
    private static let transformed = [
        "number_-9223372036854775808": "accepted / [-9223372036854775808]",
        "number_-9223372036854775809": "accepted / [-9223372036854775809]",
        "number_1.0": "accepted / [1.0]",
        "number_1.000000000000000005": "accepted / [1.000000000000000005]",
        "number_1000000000000000": "accepted / [1000000000000000]",
        "number_10000000000000000999": "accepted / [10000000000000000999]",
        "number_1e-999": "accepted / [1E-999]",
        "number_1e6": "accepted / [1E6]",
        "number_9223372036854775807": "accepted / [9223372036854775807]",
        "number_9223372036854775808": "accepted / [9223372036854775808]",
        "object_key_nfc_nfd": #"accepted / {"\#u{e9}":"NFC","e\#u{301}":"NFD"}"#,
        "object_key_nfd_nfc": #"accepted / {"e\#u{301}":"NFD","\#u{e9}":"NFC"}"#,
        "object_same_key_different_values": #"duplicateKey("a") / {"a":2}"#,
        "object_same_key_same_value": #"duplicateKey("a") / {"a":1}"#,
        "object_same_key_unclear_values": #"duplicateKey("a") / {"a":-0}"#,
        "string_1_escaped_invalid_codepoint": #"loneSurrogate / ["\#u{fffd}"]"#,
        "string_1_invalid_codepoint": "invalidUTF8 / refused",
        "string_2_escaped_invalid_codepoints": #"loneSurrogate / ["\#u{fffd}\#u{fffd}"]"#,
        "string_2_invalid_codepoints": "invalidUTF8 / refused",
        "string_3_escaped_invalid_codepoints": #"loneSurrogate / ["\#u{fffd}\#u{fffd}\#u{fffd}"]"#,
        "string_3_invalid_codepoints": "invalidUTF8 / refused",
        "string_with_escaped_NULL": #"nulCharacter / ["A\#u{fffd}B"]"#,
    ]
}
