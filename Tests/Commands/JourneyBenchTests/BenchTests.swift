import Glibc
import JSON
import TestMaterial
import TestSupport
import Testing

/// The built program, as a person or CI starts it.
@Suite struct BenchTests {
    @Test(arguments: [["--help"], ["ingest", "--help"], ["turns", "-h"], ["help", "all"]])
    func `help is printed and nothing is measured`(words: [String]) throws {
        let answer = try BuiltBench.run(words)
        #expect(answer.code == 0)
        #expect(answer.output.contains("journey-bench"))
    }

    @Test func `the version is the program's name and a number`() throws {
        let answer = try BuiltBench.run(["--version"])
        #expect(answer.code == 0)
        #expect(answer.output.hasPrefix("journey-bench "))
    }

    @Test(arguments: [
        ["--seconds", "0"], ["--runs", "many"], ["--connections", "1,,2"], ["--connections", "0"],
        ["--connections", "1001"], ["-o", "xml"], ["--fast"], ["everything"], ["ingest", "turns"],
    ])
    func `a line that means nothing ends with 2 and a sentence`(words: [String]) throws {
        let answer = try BuiltBench.run(words)
        #expect(answer.code == 2)
        #expect(answer.error.hasPrefix("journey-bench: "))
        #expect(answer.output.isEmpty)
    }

    @Test func `a folder that is not there ends with 1 and says which option names another`() throws
    {
        let answer = try BuiltBench.run(["--quick", "--data", "/nowhere/at/all"])
        #expect(answer.code == 1)
        #expect(answer.error.contains("/nowhere/at/all"))
        #expect(answer.error.contains("--data"))
    }

    @Test func `a quick run measures everything and tells the conditions`() throws {
        try TemporaryFolder.with { folder in
            let answer = try BuiltBench.run([
                "--quick", "--commit", "abc123", "--data", folder, "-o", "json",
            ])
            try #require(answer.code == 0, "\(answer.error)")
            let report = try JSONParser.parse(Array(answer.output.utf8))
            #expect(report["commit"]?.string == "abc123")
            #expect(report["quick"]?.bool == true)
            #expect(report["caution"]?.string?.contains("depend on the machine") == true)
            let conditions = try #require(report["conditions"])
            for name in [
                "cores", "load_before", "seconds", "warm_up_seconds", "runs", "body_bytes",
            ] {
                #expect(conditions[name]?.number != nil, "\(name)")
            }
            #expect(conditions["postgresql"]?["fsync"]?.string == "on")
            #expect(conditions["postgresql"]?["synchronous_commit"]?.string == "on")
            #expect(conditions["postgresql"]?["server_version"]?.string != nil)
            let measures = try #require(report["measures"]?.array)
            #expect(
                measures.compactMap { $0["measure"]?.string } == [
                    "ingest", "ingest", "turns", "features",
                ])
            for measure in measures {
                for name in ["floor_per_second", "product_per_second", "ratio", "runs", "spread"] {
                    #expect(measure[name]?.number != nil, "\(name)")
                }
                #expect(measure["floor"]?.string != nil)
            }
            #expect(measures[0]["connections"]?.integer == 4)
            #expect(measures[0]["p50_ms"]?.number != nil)
            #expect(measures[0]["p99_ms"]?.number != nil)
            #expect(measures[2]["turns_per_second"]?.number != nil)
            #expect(Conformance.names(in: folder).isEmpty, "the cluster's folder is left")
        }
    }
}
