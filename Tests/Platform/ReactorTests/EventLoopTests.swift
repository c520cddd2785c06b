import CLinux
import Glibc
import Locks
import Reactor
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1)))
struct EventLoopTests {
    private func withLoop(_ body: @escaping @Sendable (EventLoop) async throws -> Void) async throws
    {
        let loop = EventLoop()
        let result = await Task(executorPreference: loop.tasks) {
            () async -> Result<Void, any Error> in
            do { return .success(try await body(loop)) } catch { return .failure(error) }
        }.value
        await Task.detached { loop.stop() }.value
        try result.get()
    }

    @Test func `timers fire by due time, equal ones in the order they were made`() async throws {
        try await withLoop { loop in
            let order = Guarded<[Int]>([])
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                loop.onLoop {
                    let now = [30, 10, 20, 10].enumerated().map { ($0.offset, $0.element) }
                    for (index, delay) in now {
                        loop.schedule(after: .milliseconds(delay)) {
                            order.withLock { $0.append(index) }
                            if index == 0 { continuation.resume() }
                        }
                    }
                }
            }
            #expect(order.withLock { $0 } == [1, 3, 2, 0])
        }
    }

    @Test func `a timer may make another one while it fires`() async throws {
        try await withLoop { loop in
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                loop.onLoop {
                    loop.schedule(after: .milliseconds(1)) {
                        loop.schedule(after: .zero) { continuation.resume() }
                    }
                }
            }
        }
    }

    @Test func `a cancelled timer never fires, nor do thousands`() async throws {
        try await withLoop { loop in
            let fired = Guarded(0)
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                loop.onLoop {
                    for _ in 0..<5_000 {
                        loop.schedule(after: .milliseconds(1)) { fired.withLock { $0 += 1 } }
                            .cancel()
                    }
                    loop.schedule(after: .milliseconds(5)) { continuation.resume() }
                }
            }
            #expect(fired.withLock { $0 } == 0)
        }
    }

    @Test func `a sleep ends with its task`() async throws {
        try await withLoop { loop in
            let task = Task(executorPreference: loop.tasks) {
                try await loop.sleep(for: .seconds(100_000_000_000))
            }
            await Task.yield()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            let early = Task { try await loop.sleep(for: .seconds(1_000)) }
            early.cancel()
            await #expect(throws: CancellationError.self) { try await early.value }
            try await loop.sleep(for: .milliseconds(1))
        }
    }

    @Test func `jobs from many threads all run on the loop`() async throws {
        let loop = EventLoop()
        let total = await withTaskGroup(of: Int.self) { group in
            for number in 1...1_000 {
                group.addTask { await loop.run { loop.isOnLoop ? number : 0 } }
            }
            return await group.reduce(0, +)
        }
        #expect(total == 500_500)
        #expect(!loop.isOnLoop)
        await Task.detached { loop.stop() }.value
    }

    @Test func `a descriptor is watched, modified and unwatched`() async throws {
        try await withLoop { loop in
            let pair = Self.socketPair()
            let seen = Guarded<[EventLoop.Readiness]>([])
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                loop.onLoop {
                    loop.watch(pair.0, for: .write) { readiness in
                        seen.withLock { $0.append(readiness) }
                        loop.modify(pair.0, for: .read)
                        _ = write(pair.1, "x", 1)
                        loop.watch(pair.0, for: .read) { readiness in
                            seen.withLock { $0.append(readiness) }
                            loop.unwatch(pair.0)
                            continuation.resume()
                        }
                    }
                }
            }
            // Still readable: a watch that had stayed would be called.
            try await loop.sleep(for: .milliseconds(5))
            #expect(seen.withLock { $0 } == [.write, .read])
            close(pair.0)
            close(pair.1)
        }
    }

    @Test func `an event of an earlier descriptor does not reach a later one of the same number`()
        async throws
    {
        try await withLoop { loop in
            let wrong = Guarded(0)
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                loop.onLoop {
                    // Both are ready in one batch; whichever is first replaces the other.
                    let one = Self.socketPair()
                    let two = Self.socketPair()
                    _ = write(one.1, "x", 1)
                    _ = write(two.1, "x", 1)
                    let isFirst = Guarded(true)
                    @Sendable func replace(_ other: Int32) {
                        guard
                            isFirst.withLock({
                                let was = $0; $0 = false; return was
                            })
                        else {
                            return
                        }
                        loop.unwatch(one.0)
                        loop.unwatch(two.0)
                        let fresh = Self.socketPair()
                        dup2(fresh.0, other)
                        loop.watch(other, for: .read) { _ in wrong.withLock { $0 += 1 } }
                        loop.schedule(after: .milliseconds(5)) {
                            loop.unwatch(other)
                            for descriptor in [one.0, one.1, two.0, two.1, fresh.0, fresh.1] {
                                close(descriptor)
                            }
                            continuation.resume()
                        }
                    }
                    loop.watch(one.0, for: .read) { _ in replace(two.0) }
                    loop.watch(two.0, for: .read) { _ in replace(one.0) }
                }
            }
            #expect(wrong.withLock { $0 } == 0)
        }
    }

    @Test func `jobs without end starve neither timers nor descriptors`() async throws {
        try await withLoop { loop in
            let isOver = Atomic(false)
            let busy = Task(executorPreference: loop.tasks) {
                while !isOver.load(ordering: .relaxed) { await Task.yield() }
            }
            try await loop.sleep(for: .milliseconds(2))
            isOver.store(true, ordering: .relaxed)
            await busy.value
        }
    }

    @Test func `stop runs what was handed in, and may be called twice`() async throws {
        let loop = EventLoop()
        let ran = Guarded(0)
        for _ in 0..<100 { loop.onLoop { ran.withLock { $0 += 1 } } }
        await Task.detached {
            loop.stop()
            loop.stop()
        }.value
        #expect(ran.withLock { $0 } == 100)
    }

    @Test func `a stopped loop is freed`() async throws {
        weak var gone: EventLoop?
        do {
            let loop = EventLoop()
            gone = loop
            await loop.run {}
            await Task.detached { loop.stop() }.value
        }
        #expect(gone == nil)
    }

    private static func socketPair() -> (Int32, Int32) {
        var pair: [Int32] = [0, 0]
        socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair)
        return (pair[0], pair[1])
    }
}
