internal import Glibc

/// Reads whole files that must not be longer than a bound.
package enum BoundedFile {
    /// Why a file could not be read, as a sentence that names it.
    package struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
        /// The path as given.
        package let path: String
        /// Continues "The file … ".
        package let reason: String

        /// One sentence with the path.
        package var description: String { "The file \(path) \(reason)." }
    }

    /// Reads a regular file.
    ///
    /// - Parameters:
    ///   - path: absolute, or relative to the working directory.
    ///   - limit: the most bytes the file may hold.
    /// - Throws: ``Failure`` when it is absent, closed to this user, no regular file, or too long.
    package static func read(_ path: String, limit: Int) throws(Failure) -> [UInt8] {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw Failure(path: path, reason: "has no usable name")
        }
        // O_NONBLOCK: a pipe laid in the way must not hang the reader.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Failure(path: path, reason: reason(errno)) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw Failure(path: path, reason: reason(errno))
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(path: path, reason: "is not a regular file")
        }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let got = Glibc.read(descriptor, &chunk, chunk.count)
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw Failure(path: path, reason: reason(errno)) }
            if got == 0 { return bytes }
            guard bytes.count + got <= limit else {
                throw Failure(path: path, reason: "is longer than \(limit) bytes")
            }
            bytes += chunk[..<got]
        }
    }

    /// The names directly inside a folder, sorted by bytes; hidden ones left out.
    ///
    /// - Throws: ``Failure`` when the folder is absent, closed to this user, or holds more than 10,000.
    package static func names(in folder: String) throws(Failure) -> [String] {
        guard let handle = opendir(folder) else {
            throw Failure(path: folder, reason: reason(errno))
        }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard !name.hasPrefix(".") else { continue }
            guard names.count < 10_000 else {
                throw Failure(path: folder, reason: "holds more than 10,000 entries")
            }
            names.append(name)
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Whether something of that name is there.
    package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    private static func reason(_ code: Int32) -> String {
        switch code {
        case ENOENT, ENOTDIR: "does not exist"
        case EACCES, EPERM: "may not be read by this user; check its owner and mode"
        default: "cannot be read: \(String(cString: strerror(code)))"
        }
    }
}
