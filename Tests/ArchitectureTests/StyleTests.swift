import Testing

/// What `swift format` does not see: sizes, doc comments, names, and words that must not be left.
@Suite struct StyleTests {
    let sources: [SourceTree.File]

    init() throws { sources = try SourceTree.files(under: "Sources", ending: ".swift") }

    @Test func `no file is longer than 400 lines, no function longer than 70`() throws {
        let tests = try SourceTree.files(under: "Tests", ending: ".swift")
        for file in sources + tests {
            #expect(file.lines.count <= 401, "\(file.path) has \(file.lines.count) lines")
            for (name, length) in functions(of: file) {
                #expect(length <= 70, "\(file.path): \(name) takes \(length) lines")
            }
        }
    }

    @Test func `a function's length is measured from its first line to its closing brace`() {
        let file = SourceTree.File(
            path: "x.swift",
            lines: "    func f(\n        a: Int\n    ) {\n        g()\n    }".split(separator: "\n")
        )
        #expect(functions(of: file).map(\.length) == [5])
    }

    /// Functions by their indentation, which `swift format` keeps true.
    private func functions(of file: SourceTree.File) -> [(name: String, length: Int)] {
        var found: [(String, Int)] = []
        for (start, line) in file.lines.enumerated() {
            let words = line.trimmed
            guard words.contains("func ") || words.hasPrefix("init(") || words.contains(" init("),
                !words.hasPrefix("//"), !words.hasPrefix("case"), !words.contains("= ")
            else { continue }
            let depth = line.indentation
            guard
                let end = file.lines[start...].firstIndex(where: {
                    $0.indentation == depth && $0.trimmed.hasPrefix("}")
                }),
                !file.lines[(start + 1)...end].dropLast().contains(where: {
                    $0.indentation == depth && !$0.trimmed.isEmpty && !$0.trimmed.hasPrefix(")")
                        && !$0.trimmed.hasPrefix("{") && !$0.trimmed.hasPrefix("where")
                })
            else { continue }
            found.append((String(words), end - start + 1))
        }
        return found
    }

    @Test func `every door to another room is documented`() {
        let doors = ["struct ", "enum ", "class ", "actor ", "protocol ", "func ", "typealias "]
        let witnesses = [
            "func <", "func ==", "func hash(", "func enqueue(", "func makeIterator(", "func + ",
            "func +(", "func - ", "func -(", "func checkIsolated", "func isIsolating",
            "func asUnowned", "func next(",
        ]
        for file in sources {
            for (index, line) in file.lines.enumerated() {
                let words = line.trimmed
                guard
                    words.hasPrefix("package ") || words.hasPrefix("public ")
                        || words.hasPrefix("@discardableResult package"),
                    doors.contains(where: { words.contains($0) }),
                    !words.contains("import "), !witnesses.contains(where: { words.contains($0) })
                else { continue }
                var above = index - 1
                while above >= 0, file.lines[above].trimmed.hasPrefix("@") { above -= 1 }
                let isDocumented = above >= 0 && file.lines[above].trimmed.hasPrefix("///")
                #expect(isDocumented, "\(file.path):\(index + 1) has no doc comment: \(words)")
            }
        }
    }

    @Test func `names say what a thing is`() {
        let vague = ["Manager", "Helper", "Util", "Common", "Impl", "Base", "Data", "Info"]
        for file in sources {
            let name = file.name.dropLast(".swift".count)
            for word in vague {
                #expect(!name.hasSuffix(word) && !name.hasSuffix(word + "s"), "\(file.path)")
            }
        }
    }

    @Test func `each fail point stands on its room's page`() throws {
        let page = try SourceTree.text(
            of: "Sources/Platform/FailPoints/FailPoints.docc/FailPoints.md")
        var standing: Set<Substring> = []
        for file in sources where !file.path.contains("/FailPoints/") {
            for line in file.lines {
                guard let call = line.firstRange(of: "failPoint(\"") else { continue }
                let name = line[call.upperBound...].prefix { $0 != "\"" }
                #expect(page.contains("| `\(name)"), "\(file.path) has the fail point \(name)")
                standing.insert(name)
            }
        }
        // One that was lost in a rewrite would leave a test that waits for it in vain.
        for line in page.split(separator: "\n") where line.hasPrefix("| `") {
            let name = line.dropFirst(3).prefix { $0 != "`" }
            let isThere = standing.contains(name) || name.hasPrefix("postgres.sent.")
            #expect(isThere, "the fail point \(name) stands nowhere")
        }
    }

    @Test func `nothing is left half done`() {
        let marks = ["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]
        for file in sources {
            for (index, line) in file.lines.enumerated() {
                for mark in marks
                where line.split(whereSeparator: { !$0.isLetter }).contains(Substring(mark)) {
                    Issue.record("\(file.path):\(index + 1) says \(mark)")
                }
            }
        }
    }

    @Test func `SQL stands only in storage rooms`() {
        let storage = [
            "Sources/Journeys/JourneyStorage/", "Sources/Platform/Postgres/",
            "Sources/Features/FeatureLedger/", "Sources/Features/FeatureReading/",
            "Sources/Commands/journey-bench/",
        ]
        for file in sources where !storage.contains(where: { file.path.hasPrefix($0) }) {
            for (index, line) in file.lines.enumerated() where !line.trimmed.hasPrefix("//") {
                let text = line.lowercased()
                let hasSQL =
                    text.contains("insert into ") || text.contains(" from journey.")
                    || text.contains("delete from ") || text.contains("select count(")
                #expect(!hasSQL, "\(file.path):\(index + 1) holds SQL")
            }
        }
    }

    @Test func `each room has its page, and is worth a room`() throws {
        let map = HouseMap(manifest: try SourceTree.text(of: "Package.swift"))
        for room in map.rooms where ["Platform", "Journeys", "Features"].contains(room.floor) {
            if room.name.hasPrefix("C"), room.name.dropFirst().first?.isUppercase == true {
                continue
            }
            #expect(
                SourceTree.exists("\(room.path)/\(room.name).docc/\(room.name).md"),
                "\(room.name) has no page")
            // Needed by rooms that share nothing else: there is no neighbour to merge them into.
            if ["Locks", "FailPoints"].contains(room.name) { continue }
            let lines = try SourceTree.files(under: room.path, ending: ".swift")
                .reduce(0) { $0 + $1.lines.count }
            #expect(lines >= 150, "\(room.name) has \(lines) lines: merge it into a neighbour")
        }
    }

    @Test func `the top level holds only what it may`() throws {
        let allowed: Set<String> = [
            "Package.swift", "README.md", "LICENSE", "Sources", "Tests", "Workflows", "deploy",
        ]
        let extra = try SourceTree.entries(of: "").filter {
            !$0.hasPrefix(".") && !allowed.contains($0)
        }
        #expect(extra.isEmpty, "not of the top level: \(extra)")
    }
}
