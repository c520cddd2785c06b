import Testing

/// Every sentence of the semantics has a test that names it, or a reason why it has none yet.
@Suite struct SentenceTests {
    static let list = "Tests/Fixtures/sentences.md"

    /// A row of the list.
    struct Sentence {
        let id: String
        let beginning: String
        let reason: String
    }

    let sentences: [Sentence]
    /// Sentences that tests name, each with the first file that does.
    let named: [String: String]

    init() throws {
        sentences = Self.rows(of: try SourceTree.text(of: Self.list))
        var named: [String: String] = [:]
        for file in try SourceTree.files(under: "Tests", ending: ".swift") {
            for name in Self.names(in: file) where named[name] == nil { named[name] = file.path }
        }
        self.named = named
    }

    @Test func `each sentence is listed once`() {
        #expect(sentences.count > 100)
        #expect(Set(sentences.map(\.id)).count == sentences.count)
    }

    @Test func `each sentence has a test that names it, or a reason why not yet`() {
        for sentence in sentences {
            let isNamed = named[sentence.id] != nil
            #expect(
                isNamed || !sentence.reason.isEmpty,
                "no test names \(sentence.id) (\(sentence.beginning) …): write one, or a reason in \(Self.list)"
            )
            #expect(
                !(isNamed && !sentence.reason.isEmpty),
                "\(sentence.id) is named in \(named[sentence.id] ?? "") and called uncovered in \(Self.list)"
            )
        }
    }

    @Test func `tests name no sentence that does not exist`() {
        let known = Set(sentences.map(\.id))
        for (name, file) in named.sorted(by: { $0.key < $1.key }) where !known.contains(name) {
            Issue.record("\(file) names \(name), which \(Self.list) does not list")
        }
    }

    @Test func `the list is that of the semantics`() throws {
        guard let text = try SourceTree.beside("shared/spec/semantics.md") else {
            print("semantics: not beside the package, the list of sentences is taken as it is")
            return
        }
        let written = Semantics.sentences(of: text)
        #expect(written.map(\.id) == sentences.map(\.id))
        for (now, listed) in zip(written, sentences) where !now.text.hasPrefix(listed.beginning) {
            Issue.record("\(now.id) now begins: \(now.text.prefix(60))")
        }
    }

    @Test func `sentences are told apart`() {
        let text = """
            # Rules
            **S1 One. Two.** First `a.b` holds, i.e. here. Second
            (3 words) ends. (Seen: lost. Again.)
            | head |
            |---|
            | row |

            **S2 Other.** Only one
            """
        #expect(
            Semantics.sentences(of: text).map { "\($0.id) \($0.text)" } == [
                "S1.1 First `a.b` holds, i.e. here.", "S1.2 Second (3 words) ends.",
                "S1.table1 row",
                "S1.seen lost. Again.", "S2.1 Only one",
            ])
    }

    private static func rows(of text: String) -> [Sentence] {
        text.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("| S") else { return nil }
            let cells = line.dropFirst().dropLast().split(
                separator: "|", omittingEmptySubsequences: false
            ).map { String($0.trimmed) }
            guard cells.count == 3 else { return nil }
            return Sentence(id: cells[0], beginning: cells[1], reason: cells[2])
        }
    }

    /// Names on a comment's line that stands directly above a test's attribute.
    private static func names(in file: SourceTree.File) -> [String] {
        zip(file.lines, file.lines.dropFirst()).flatMap { line, next -> [String] in
            let words = line.trimmed
            guard words.hasPrefix("// S"), next.trimmed.hasPrefix("@Test") else { return [] }
            return words.dropFirst(3).split(whereSeparator: { $0 == " " || $0 == "," })
                .map(String.init)
        }
    }
}
