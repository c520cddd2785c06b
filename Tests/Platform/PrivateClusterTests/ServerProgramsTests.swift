import TestSupport
import Testing

@testable import PrivateCluster

@Suite struct ServerProgramsTests {
    @Test func `without PostgreSQL the message names the package`() {
        TemporaryFolder.with { folder in
            let error = #expect(throws: PrivateClusterError.self) {
                try ServerPrograms.find(data: folder, root: folder, path: folder)
            }
            #expect(error?.description.contains("apt-get install postgresql") == true)
        }
    }

    @Test func `files of another version ask for that version`() throws {
        try TemporaryFolder.with { folder in
            try Files.write("99\n", to: folder + "/PG_VERSION")
            let error = #expect(throws: PrivateClusterError.self) {
                try ServerPrograms.find(data: folder)
            }
            #expect(error == .noPostgreSQL(major: 99))
            #expect(error?.description.contains("postgresql-99") == true)
        }
    }
}
