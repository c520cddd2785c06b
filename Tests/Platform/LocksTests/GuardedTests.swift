import Locks
import Testing

@Suite struct GuardedTests {
    @Test func `threads that count together lose nothing`() async {
        let count = Guarded(0)
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<10_000 { count.withLock { $0 += 1 } } }
            }
        }
        #expect(count.withLock { $0 } == 80_000)
    }

    @Test func `an error leaves the lock open`() {
        struct Refusal: Error, Equatable {}
        let value = Guarded([1])
        #expect(throws: Refusal()) {
            try value.withLock { (list: inout [Int]) throws(Refusal) in
                list.append(2)
                throw Refusal()
            }
        }
        #expect(value.withLock { $0 } == [1, 2])
    }
}
