import Glibc
import JSON
import Locks
import Telemetry
import Testing
import TimeZones

@Suite struct LogTests {
    private let lines = LogLines()

    private func log(
        _ format: LogFormat = .json, level: LogLevel = .trace, customers: CustomerIDPolicy = .plain
    ) -> Log {
        Log(
            level: level, format: format, customers: customers,
            clock: { Instant(milliseconds: 1_796_000_000_123) }, sink: lines.sink)
    }

    @Test func `a line holds time, level, message and metadata in their order`() {
        log().with(["run": "r1"]).info(
            "turn done", ["inputs": 3, "late": true, "share": 0.5, "z": "a", "b": "c"])
        #expect(
            lines.lines == [
                #"{"time":"2026-11-30T00:53:20.123Z","level":"info","message":"turn done","run":"r1","#
                    + #""inputs":3,"late":true,"share":0.5,"z":"a","b":"c"}"#
            ])
    }

    @Test func `a line for people is short and quotes what is not a word`() {
        log(.text).warning(
            "no answer", ["host": "db-1", "why": "timed \"out\"\n", "empty": "", "n": 3])
        #expect(
            lines.lines == [
                #"2026-11-30T00:53:20.123Z WARNING no answer host=db-1 why="timed \"out\"\u{a}" empty="" n=3"#
            ])
    }

    @Test func `less than the level is not even made`() {
        let made = Guarded(0)
        let log = log(level: .warning)
        func message() -> String {
            made.withLock { $0 += 1 }
            return "x"
        }
        log.trace(message())
        log.debug(message())
        log.info(message(), ["k": .text(message())])
        #expect(made.withLock { $0 } == 0)
        log.warning(message())
        log.error(message())
        #expect(lines.lines.count == 2)
        #expect(log.writes(.error) && !log.writes(.info))
        #expect(LogLevel.allCases == LogLevel.allCases.sorted())
    }

    @Test func `customers are hashed only where the policy says so`() {
        let metadata: KeyValuePairs<String, LogValue> = [
            "customer": .customer("ann"), "run": "ann",
        ]
        log(customers: .hash { "h(\($0))" }).info("m", metadata)
        log(.text, customers: .hash { "h-\($0)" }).info("m", metadata)
        log(customers: .plain).info("m", metadata)
        #expect(lines.lines[0].hasSuffix(#""customer":"h(ann)","run":"ann"}"#))
        #expect(lines.lines[1].hasSuffix("customer=h-ann run=ann"))
        #expect(lines.lines[2].hasSuffix(#""customer":"ann","run":"ann"}"#))
    }

    @Test(arguments: LogFormat.allCases)
    func `no text can begin a second line or pass for the line's own fields`(format: LogFormat)
        throws
    {
        let evil = "a\r\nb\u{0}\u{1b}[2J\u{2028}\",\"level\":\"error"
        log(format).with(["\nkey\n": .text(evil)]).info(evil, ["level": "error", "time": "never"])
        let line = try #require(lines.lines.first)
        #expect(lines.lines.count == 1)
        #expect(!line.utf8.contains { $0 < 0x20 })
        if format == .json {
            let read = try JSONParser.parse(Array(line.utf8), options: .webhook)
            #expect(read["level"] == "info")
            #expect(read["level_"] == "error")
            #expect(read["time_"] == "never")
        }
    }

    @Test(arguments: LogFormat.allCases)
    func `a line is never longer than the bound`(format: LogFormat) throws {
        let log = log(format)
        let long = String(repeating: "é", count: 50_000)
        let ugly = String(repeating: "\u{1}", count: 50_000)
        log.info("x" + long)
        log.info(ugly)
        log.info("m", ["a": .text(long), "b": .text(long), "c": .customer(ugly)])
        log.with(["run": "r1"]).info(ugly, ["a": .text(ugly), "b": .text(ugly), "n": 1])
        var many = log
        for index in 0..<1_000 { many = many.with(["k": .integer(index)]) }
        many.info("many")
        #expect(lines.lines.count == 5)
        for line in lines.lines {
            #expect(line.utf8.count < Log.lineLimit)
            if format == .json {
                #expect(throws: Never.self) {
                    try JSONParser.parse(Array(line.utf8), options: .webhook)
                }
            }
        }
        #expect(lines.lines[3].contains("r1"))
        #expect(lines.lines[3].contains("cut"))
        #expect(lines.lines[4].contains("cut"))
    }

    @Test func `numbers that JSON has not are written as texts`() {
        log().info("m", ["a": .number(.infinity), "b": .number(.nan), "c": .number(1e300)])
        #expect(lines.lines[0].hasSuffix(#""a":"inf","b":"nan","c":1e+300}"#))
    }

    @Test func `a repeated line is held back and counted`() {
        let throttle = LogThrottle(interval: .seconds(60))
        let now = Guarded(Instant(milliseconds: 0))
        let log = Log(customers: .plain, clock: { now.withLock { $0 } }, sink: lines.sink)
        func again() { log.throttled(by: throttle, key: "slow", .warning, "slow", ["n": 1]) }
        again()
        again()
        again()
        log.throttled(by: throttle, key: "other", .warning, "other")
        log.throttled(by: throttle, key: "quiet", .debug, "not at this level")
        now.withLock { $0 = Instant(milliseconds: 59_999) }
        again()
        now.withLock { $0 = Instant(milliseconds: 60_000) }
        again()
        now.withLock { $0 = Instant(milliseconds: 10_000) }
        again()
        let tails = lines.lines.map {
            $0.split(separator: "Z\",", maxSplits: 1).last.map(String.init) ?? ""
        }
        #expect(
            tails == [
                #""level":"warning","message":"slow","n":1}"#,
                #""level":"warning","message":"other"}"#,
                #""level":"warning","message":"slow","suppressed":3,"n":1}"#,
                #""level":"warning","message":"slow","n":1}"#,
            ])
    }

    @Test func `the oldest key makes room for a new one`() {
        let throttle = LogThrottle(interval: .seconds(60), keyLimit: 2)
        #expect(throttle.pass("a", at: Instant(milliseconds: 0)) == 0)
        #expect(throttle.pass("b", at: Instant(milliseconds: 1)) == 0)
        #expect(throttle.pass("c", at: Instant(milliseconds: 2)) == 0)
        #expect(throttle.pass("b", at: Instant(milliseconds: 3)) == nil)
        #expect(throttle.pass("a", at: Instant(milliseconds: 4)) == 0)
    }

    /// A pipe that fills up and takes part of a line then, read while eight tasks write.
    @Test func `no line is lost or torn by other writers`() async throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let (readEnd, writeEnd) = (ends[0], ends[1])
        // A child that another test starts must not hold the write end open.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(writeEnd, F_SETFL, O_NONBLOCK)
        let padding = String(repeating: "x", count: 6_000)
        let reader = Thread {
            var bytes: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = read(readEnd, &chunk, chunk.count)
                if count <= 0 { return bytes }
                bytes += chunk[..<count]
            }
        }
        let log = Log(
            customers: .plain, clock: { Instant(milliseconds: 0) }, sink: .descriptor(writeEnd))
        await withTaskGroup { group in
            for writer in 0..<8 {
                group.addTask {
                    for number in 0..<50 {
                        log.info(
                            "m", ["id": .integer(writer * 1_000 + number), "pad": .text(padding)])
                    }
                }
            }
        }
        close(writeEnd)
        let bytes = reader.join()
        close(readEnd)
        var ids: Set<Int64> = []
        for line in bytes.split(separator: 10) {
            let value = try JSONParser.parse(Array(line))
            #expect(value["pad"]?.string == padding)
            ids.insert(try #require(value["id"]?.integer))
        }
        #expect(ids.count == 400)
    }

    @Test func `a descriptor that is closed loses the line and nothing else`() {
        Log(customers: .plain, clock: { Instant(milliseconds: 0) }, sink: .descriptor(-1)).error(
            "lost")
        Log.silent.error("lost")
    }
}

/// A thread of its own for a blocking read, which would hold one of the pool's few.
private final class Thread: Sendable {
    private let result = Guarded<[UInt8]>([])
    private let thread = Guarded<pthread_t>(0)
    private let body: @Sendable () -> [UInt8]

    init(_ body: @escaping @Sendable () -> [UInt8]) {
        self.body = body
        var made = pthread_t()
        let context = Unmanaged.passRetained(self).toOpaque()
        pthread_create(
            &made, nil,
            { context in
                guard let context else { return nil }
                let thread = Unmanaged<Thread>.fromOpaque(context).takeRetainedValue()
                let bytes = thread.body()
                thread.result.withLock { $0 = bytes }
                return nil
            }, context)
        let started = made
        thread.withLock { $0 = started }
    }

    func join() -> [UInt8] {
        pthread_join(thread.withLock { $0 }, nil)
        return result.withLock { $0 }
    }
}
