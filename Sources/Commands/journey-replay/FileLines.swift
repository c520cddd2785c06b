internal import Glibc

/// The lines of a file, read as they are asked for.
struct FileLines: ~Copyable {
    /// A longer line is refused.
    static let longestLine = 67_108_864

    private let path: String
    private let descriptor: Int32
    private var rest: [UInt8] = []
    /// Bytes of ``rest`` that lines were taken from already, and that hold no line feed yet.
    private var taken = 0
    private var searched = 0
    private var hasEnded = false

    init(path: String) throws {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw ReplayFailure.notFound(
                "The file \(path) cannot be read: \(String(cString: strerror(errno))).")
        }
    }

    deinit { close(descriptor) }

    /// The next line without its line feed; nil after the last.
    mutating func next() throws -> [UInt8]? {
        while true {
            if let feed = rest[searched...].firstIndex(of: 0x0A) {
                let line = Array(rest[taken..<feed])
                (taken, searched) = (feed + 1, feed + 1)
                return line
            }
            searched = rest.count
            if hasEnded {
                guard taken < rest.count else { return nil }
                let line = Array(rest[taken...])
                taken = rest.count
                return line
            }
            guard rest.count - taken <= Self.longestLine else {
                throw ReplayFailure(
                    "A line of \(path) is longer than \(Self.longestLine) bytes; is it an export?")
            }
            try fill()
        }
    }

    private mutating func fill() throws {
        rest.removeFirst(taken)
        (searched, taken) = (searched - taken, 0)
        var chunk = [UInt8](repeating: 0, count: 262_144)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw ReplayFailure(
                    "The file \(path) cannot be read: \(String(cString: strerror(errno))).")
            }
            hasEnded = count == 0
            rest += chunk.prefix(count)
            return
        }
    }
}
