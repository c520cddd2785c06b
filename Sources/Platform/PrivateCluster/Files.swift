internal import CLinux
internal import Glibc

/// The few calls on files that the cluster needs; paths are absolute.
enum Files {
    static func isExecutable(_ path: String) -> Bool { access(path, X_OK) == 0 }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    static func names(in directory: String) -> [String] {
        guard let handle = opendir(directory) else { return [] }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// The last `limit` bytes of a file; nil when it cannot be read.
    static func tail(_ path: String, limit: Int = 4_096) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let size = lseek(descriptor, 0, Int32(SEEK_END))
        lseek(descriptor, max(0, size - limit), Int32(SEEK_SET))
        var bytes = [UInt8](repeating: 0, count: limit)
        var filled = 0
        while filled < limit {
            let count = bytes.withUnsafeMutableBytes { buffer in
                read(descriptor, buffer.baseAddress?.advanced(by: filled), limit - filled)
            }
            if count <= 0 { break }
            filled += count
        }
        return String(decoding: bytes[..<filled], as: UTF8.self)
    }

    static func write(_ text: String, to path: String) throws(PrivateClusterError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("write", path) }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw failure("write", path)
        }
    }

    /// Makes the directory and its parents; an existing one is left as it is.
    static func makeDirectories(_ path: String, mode: mode_t) throws(PrivateClusterError) {
        var made = ""
        for part in path.split(separator: "/") {
            made += "/" + part
            if mkdir(made, mode) != 0, errno != EEXIST { throw failure("make", made) }
        }
    }

    /// Makes a directory that only `owner` may enter, and refuses one that another user put there.
    static func makePrivateDirectory(
        _ path: String, owner: SystemUser
    ) throws(PrivateClusterError) {
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw failure("make", path) }
        var status = stat()
        guard lstat(path, &status) == 0 else { throw failure("look at", path) }
        guard status.st_mode & S_IFMT == S_IFDIR,
            status.st_uid == owner.userID || status.st_uid == getuid()
        else {
            throw .system(action: "use", path: path, reason: "it belongs to another user")
        }
        guard lchown(path, owner.userID, owner.groupID) == 0, chmod(path, 0o700) == 0 else {
            throw failure("take over", path)
        }
    }

    static func failure(_ action: String, _ path: String) -> PrivateClusterError {
        .system(action: action, path: path, reason: String(cString: strerror(errno)))
    }
}

/// A user of the operating system.
struct SystemUser: Sendable {
    let name: String
    let userID: uid_t
    let groupID: gid_t

    static var current: SystemUser {
        guard let entry = getpwuid(getuid()) else {
            return SystemUser(name: "\(getuid())", userID: getuid(), groupID: getgid())
        }
        return SystemUser(
            name: String(cString: entry.pointee.pw_name), userID: getuid(), groupID: getgid())
    }

    static func named(_ name: String) -> SystemUser? {
        guard let entry = getpwnam(name) else { return nil }
        return SystemUser(
            name: name, userID: entry.pointee.pw_uid, groupID: entry.pointee.pw_gid)
    }
}
