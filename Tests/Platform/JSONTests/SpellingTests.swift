import JSON
import Testing

@Suite struct SpellingTests {
    private let known = [
        "publish", "pause", "resume", "retry", "reset", "list", "statement_timeout",
    ]

    @Test(arguments: [
        ("pubish", "publish" as String?), ("PUBLISH", "publish"), ("puase", "pause"),
        ("rest", "reset"),
        ("statement_timout", "statement_timeout"), ("lists", "list"), ("x", nil), ("", nil),
        ("elephant", nil), ("zz", nil),
    ])
    func `the nearest word is suggested when it is near`(word: String, wanted: String?) {
        #expect(Spelling.nearestWord(to: word, among: known) == wanted)
    }

    @Test func `a sentence ends either way`() {
        #expect(Spelling.ending(for: "pubish", among: known) == "; did you mean \"publish\"?")
        #expect(Spelling.ending(for: "elephant", among: known) == ".")
    }

    @Test func `overlong words are not compared`() {
        let long = String(repeating: "a", count: 100_000)
        #expect(Spelling.nearestWord(to: long, among: [long]) == nil)
        #expect(Spelling.nearestWord(to: "a", among: [long, "b"]) == nil)
    }
}
