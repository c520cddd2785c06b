internal import CLinux
internal import Glibc
package import PrivateCluster

/// One private PostgreSQL for the whole test process, started with the first test that asks for it.
package enum TestCluster {
    /// Its files are not made durable: nothing outlives the process.
    package static let shared: PrivateCluster = {
        removeLeftOvers()
        do {
            let cluster = try PrivateCluster.start(home: home, settings: fastSettings)
            atexit { TestCluster.end() }
            return cluster
        } catch {
            fatalError("tests need PostgreSQL: \(error)")
        }
    }()

    /// For tests that start a cluster of their own.
    package static let fastSettings = [
        "fsync": "off", "full_page_writes": "off", "synchronous_commit": "off",
        "max_connections": "200", "max_wal_size": "4GB",
    ]

    private static let prefix = "nuxie-journey-tests-"

    private static var home: String { "/tmp/\(prefix)\(getpid())" }

    private static func end() {
        shared.stop()
        remove(home)
    }

    /// What killed test processes left.
    private static func removeLeftOvers() {
        guard let handle = opendir("/tmp") else { return }
        defer { closedir(handle) }
        while let entry = readdir(handle) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasPrefix(prefix), let owner = pid_t(name.dropFirst(prefix.count)) else {
                continue
            }
            if kill(owner, 0) != 0, errno == ESRCH { remove("/tmp/" + name) }
        }
    }

    private static func remove(_ path: String) {
        TemporaryFolder.remove(path)
    }
}
