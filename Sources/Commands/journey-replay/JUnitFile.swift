internal import Glibc
internal import JourneyModel
internal import RunReplay

/// A JUnit report that is written as the runs come, in bounded memory: its counts stand in the head,
/// which is filled in at the end.
struct JUnitFile: ~Copyable {
    private let path: String
    private let descriptor: Int32
    private var tests = 0
    private var failures = 0
    private var skipped = 0

    /// Opens the file anew.
    init(path: String) throws {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw ReplayFailure(
                "The report \(path) cannot be written: \(String(cString: strerror(errno))); name "
                    + "another with --junit.")
        }
        try write(head)
    }

    deinit { close(descriptor) }

    mutating func write(_ run: CheckedRun) throws {
        tests += 1
        let name =
            "<testcase classname=\"\(Self.escaped(run.workflow.text)).v\(run.version)\" "
            + "name=\"\(Self.escaped(run.id.text))\""
        guard let divergence = run.divergence else { return try write("  \(name)/>\n") }
        let text = Self.escaped(divergence.description)
        if run.isBeyondChecking {
            skipped += 1
            try write("  \(name)><skipped message=\"\(text)\"/></testcase>\n")
        } else {
            failures += 1
            try write(
                "  \(name)><failure type=\"\(divergence.kind.rawValue)\" message=\"\(text)\"/>"
                    + "</testcase>\n")
        }
    }

    /// Ends the report; without it the counts are zeros.
    mutating func finish() throws {
        try write("</testsuite>\n")
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw failure() }
        try write(head)
    }

    /// Of one length whatever the counts are.
    private var head: String {
        func padded(_ count: Int) -> String {
            let digits = String(count)
            return String(repeating: "0", count: max(0, 10 - digits.count)) + digits
        }
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            + "<testsuite name=\"journey-replay verify\" tests=\"\(padded(tests))\" "
            + "failures=\"\(padded(failures))\" skipped=\"\(padded(skipped))\">\n"
    }

    private func write(_ text: String) throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure() }
            rest = rest.dropFirst(count)
        }
    }

    private func failure() -> ReplayFailure {
        ReplayFailure(
            "The report \(path) cannot be written: \(String(cString: strerror(errno))); free its disk "
                + "and verify again.")
    }

    /// As XML 1.0 wants it: characters that it cannot hold are shown by their number.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case _ where scalar.value < 0x20 || (0xFFFE...0xFFFF).contains(scalar.value):
                escaped += "\\u{\(String(scalar.value, radix: 16))}"
            case _: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
