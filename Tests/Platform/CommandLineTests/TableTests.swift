import CommandLine
import JSON
import Testing

@Suite struct TableTests {
    private let table = Table(
        columns: [
            .init("ID", key: "id"), .init("COUNT", key: "n", alignment: .right),
            .init("WHO", at: JSONPointer(tokens: ["who", "name"])),
        ],
        rows: [
            ["id": "a", "n": 9_007_199_254_740_993, "who": ["name": "日本"]],
            ["id": "bcd", "n": nil, "who": ["name": "e\u{301}\u{1b}[2J\n"]],
            ["id": "", "who": [:]],
        ])

    @Test func `columns are aligned and nothing can steer the terminal`() {
        #expect(
            table.text(.table) == """
                ID              COUNT  WHO
                a    9007199254740993  日本
                bcd                 -  e\u{301}\\u{1b}[2J\\u{a}
                -                   -  -

                """)
        #expect(table.text(.table, emphasis: true).hasPrefix("\u{1b}[1mID"))
    }

    @Test func `rows are whole in JSON`() throws {
        #expect(try JSONParser.parse(table.text(.json)).array?.count == 3)
        let lines = table.text(.jsonl).split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[0] == #"{"id":"a","n":9007199254740993,"who":{"name":"日本"}}"#)
        #expect(table.text(.ids) == "a\nbcd\n-\n")
    }

    @Test func `an empty table has its heads only`() throws {
        let empty = Table(columns: [.init("ID", key: "id")])
        #expect(empty.text(.table) == "ID\n")
        #expect(empty.text(.json) == "[]\n")
        #expect(empty.text(.jsonl) == "")
        #expect(empty.text(.ids) == "")
    }
}
