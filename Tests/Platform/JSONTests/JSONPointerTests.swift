import JSON
import Testing

@Suite struct JSONPointerTests {
    /// The document and table of RFC 6901, section 5.
    @Test func `the standard's own examples`() throws {
        let document = try JSONParser.parse(
            #"{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}"#
        )
        let table = [
            "/foo/0": "\"bar\"", "/": "0", "/a~1b": "1", "/c%d": "2", "/e^f": "3", "/g|h": "4",
            "/i\\j": "5", "/k\"l": "6", "/ ": "7", "/m~0n": "8",
        ]
        for (text, wanted) in table {
            let pointer = try #require(JSONPointer(text))
            #expect(pointer.resolve(in: document)?.text == wanted)
            #expect(pointer.description == text)
        }
        #expect(JSONPointer("")?.resolve(in: document) == document)
    }

    @Test(arguments: ["a", "/~", "/~2", "/a~", "#/a"])
    func `a text of another form is no pointer`(text: String) {
        #expect(JSONPointer(text) == nil)
    }

    @Test(arguments: [
        "/foo/2", "/foo/-", "/foo/01", "/foo/+1", "/foo/", "/foo/99999999999999999999", "/foo/0/x",
    ])
    func `a pointer past what is there finds nothing`(text: String) throws {
        #expect(JSONPointer(text)?.resolve(in: ["foo": ["bar", "baz"]]) == nil)
    }

    @Test func `a combining mark after a slash does not hide the slash`() throws {
        let pointer = try #require(JSONPointer("/\u{301}a/\u{301}"))
        #expect(pointer.tokens.count == 2)
        #expect(JSONPointer("/\u{e9}") != JSONPointer("/e\u{301}"))
        #expect(JSONPointer(tokens: ["a/b", "~"]).description == "/a~1b/~0")
        #expect(JSONPointer().appending("a").appending(0).description == "/a/0")
    }
}
