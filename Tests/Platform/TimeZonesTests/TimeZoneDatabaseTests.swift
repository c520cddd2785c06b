import FoundationEssentials
import Testing
import TimeZones

@Suite struct TimeZoneDatabaseTests {
    /// A directory of compiled zones of the test's own.
    private func withDirectory(_ body: (String) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.path + "/zones-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: directory + "/Test", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try write(TimeZoneRulesTests.file("UTC0"), directory + "/UTC")
        try write(TimeZoneRulesTests.file("<+02>-2", offset: 7_200), directory + "/Test/Zone")
        try body(directory)
    }

    private func write(_ bytes: [UInt8], _ path: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    @Test func `rules are read once with the release they are from`() throws {
        try withDirectory { directory in
            try write(
                Array("# version 2031z\nZ Test/Zone 2 - +02\nL Test/Zone Test/Link\n".utf8),
                directory + "/tzdata.zi")
            let database = try TimeZoneDatabase(directory: directory)
            #expect(database.version == "2031z")
            #expect(database.names == ["Test/Link", "Test/Zone"])
            let rules = try database.rules(named: "Test/Zone")
            #expect(rules.offset(at: .latest) == 7_200)
            #expect(rules.version == "2031z")
            try FileManager.default.removeItem(atPath: directory + "/Test/Zone")
            #expect(try database.rules(named: "Test/Zone") == rules)
        }
    }

    @Test func `a directory without a list says unknown or what its version file says`() throws {
        try withDirectory { directory in
            #expect(try TimeZoneDatabase(directory: directory).version == "unknown")
            try write(Array("2030a\n".utf8), directory + "/+VERSION")
            #expect(try TimeZoneDatabase(directory: directory).version == "2030a")
        }
    }

    @Test(arguments: [
        "../etc/passwd", "/etc/passwd", "Europe/../UTC", "Europe//Berlin", "", "Europe/", ".hidden",
        "Europe/Berlin\0", "right/UTC", "posix/UTC", "localtime", "tzdata.zi", "Europe/Bérlin",
        "-x",
        "a/b/c/d/e", "Aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    ])
    func `a name that is none touches no file`(name: String) throws {
        try withDirectory { directory in
            let database = try TimeZoneDatabase(directory: directory)
            #expect(throws: TimeZoneProblem.badName(name)) { try database.rules(named: name) }
        }
    }

    @Test func `what is missing or broken is named`() throws {
        try withDirectory { directory in
            let database = try TimeZoneDatabase(directory: directory)
            #expect(throws: TimeZoneProblem.unknownZone(name: "Test/Nowhere", directory: directory))
            {
                try database.rules(named: "Test/Nowhere")
            }
            #expect(throws: TimeZoneProblem.unknownZone(name: "Test", directory: directory)) {
                try database.rules(named: "Test")
            }
            try write([UInt8](repeating: 0, count: 65_537), directory + "/Long")
            #expect(throws: TimeZoneProblem.self) { try database.rules(named: "Long") }
            try write(Array("hello".utf8), directory + "/Broken")
            let error = #expect(throws: TimeZoneProblem.self) {
                try database.rules(named: "Broken")
            }
            #expect(
                error?.description
                    == "The tzdata file of \"Broken\" is damaged: it is no TZif file; install tzdata again."
            )
        }
        #expect(throws: TimeZoneProblem.self) { try TimeZoneDatabase(directory: "/nowhere/at/all") }
    }

    @Test func `every zone of the installed release is read`() throws {
        let database = try TimeZoneDatabase()
        for name in database.names {
            #expect(throws: Never.self, "\(name)") { try database.rules(named: name) }
        }
    }
}
