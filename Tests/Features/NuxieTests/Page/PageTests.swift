import TestMaterial
import Testing

/// What is written here of the page is the page's, and each of its sentences is held by a test.
struct PageTests {
    static let folder = "Tests/Features/NuxieTests/"
    static let list = "Tests/Fixtures/sdk-sentences.md"

    @Test func `the fragments here are the page's, to the letter`() throws {
        var written: [String: [String]] = [:]
        for name in ["Fragments", "PremiumView", "FeatureObserver"] {
            let text = try #require(PageText.file(Self.folder + "Page/\(name).swift"))
            written.merge(PageText.written(in: text)) { first, _ in first }
        }
        #expect(written.count == 7)
        guard let page = PageText.read() else { return }
        let fragments = PageText.fragments(of: page)
        #expect(Set(fragments.keys) == Set(written.keys))
        for (name, lines) in fragments { #expect(written[name] == lines, "\(name)") }
    }

    @Test func `the fragments' file imports the SDK alone`() throws {
        for name in ["Fragments", "FeatureObserver"] {
            let text = try #require(PageText.file(Self.folder + "Page/\(name).swift"))
            let imports = text.split(separator: "\n").filter { $0.hasPrefix("import ") }
            #expect(imports == ["import Nuxie"])
        }
    }

    @Test func `each sentence of the page has a test that names it, or is no promise`() throws {
        let rows = try rows()
        #expect(Set(rows.map(\.id)).count == rows.count)
        let named = try named()
        for row in rows {
            let isNamed = named.contains(row.id)
            #expect(isNamed || !row.reason.isEmpty, "no test names \(row.id) \(row.beginning)")
            #expect(!isNamed || row.reason.isEmpty, "\(row.id) is named and said to be no promise")
        }
        let unknown = named.subtracting(rows.map(\.id))
        #expect(unknown.isEmpty, "tests name \(unknown.sorted()), which \(Self.list) does not hold")
    }

    @Test func `the list of sentences is the page's`() throws {
        guard let page = PageText.read() else { return }
        let sentences = PageText.sentences(of: page)
        let rows = try rows()
        #expect(sentences.count == rows.count)
        for (sentence, row) in zip(sentences, rows) where !sentence.hasPrefix(row.beginning) {
            Issue.record("\(row.id) now begins: \(sentence.prefix(60))")
        }
    }

    private struct Row {
        let id: String
        let beginning: String
        let reason: String
    }

    private func rows() throws -> [Row] {
        let text = try #require(PageText.file(Self.list))
        return text.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("| P") else { return nil }
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map { cell in
                cell.split(separator: " ").joined(separator: " ")
            }
            guard cells.count == 5 else { return nil }
            return Row(id: cells[1], beginning: cells[2], reason: cells[3])
        }
    }

    /// Names on a comment's line directly above a test, here and in the end-to-end tests.
    private func named() throws -> Set<String> {
        var named: Set<String> = []
        for path in try #require(PageText.file(Self.list)).split(separator: "\n")
        where path.hasPrefix("- `") {
            let name = path.dropFirst(3).prefix { $0 != "`" }
            let text = try #require(PageText.file(String(name)), "\(name) is listed and not there")
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            for (line, next) in zip(lines, lines.dropFirst()) {
                let words = line.split(whereSeparator: { $0 == " " || $0 == "," })
                guard words.first == "//", words.count > 1, words[1].hasPrefix("P"),
                    next.drop(while: { $0 == " " }).hasPrefix("@Test")
                else { continue }
                named.formUnion(words.dropFirst().map(String.init))
            }
        }
        return named
    }
}
