/// A timer of an ``EventLoop``; it lives on the loop's thread.
package final class LoopTimer {
    private let due: ContinuousClock.Instant
    /// Timers due at the same instant fire in the order in which they were made.
    private let order: UInt64
    private var body: (() -> Void)?

    init(due: ContinuousClock.Instant, order: UInt64, body: @escaping () -> Void) {
        self.due = due
        self.order = order
        self.body = body
    }

    func isBefore(_ other: LoopTimer) -> Bool {
        due == other.due ? order < other.order : due < other.due
    }

    func isDue(at now: ContinuousClock.Instant) -> Bool { due <= now }

    func timeLeft(at now: ContinuousClock.Instant) -> Duration { due - now }

    /// Sees to it that the body is never called; after it was called, does nothing. Loop thread only.
    package func cancel() { body = nil }

    var isCancelled: Bool { body == nil }

    func fire() {
        let body = body
        self.body = nil
        body?()
    }
}

/// Timers by due time; cancelled ones are dropped when they reach the top, or when they are most.
struct TimerHeap {
    private var items: [LoopTimer] = []
    private var insertsSinceSweep = 0

    private var made: UInt64 = 0

    mutating func insert(
        due: ContinuousClock.Instant, _ body: @escaping () -> Void
    ) -> LoopTimer {
        sweepIfWorthwhile()
        made += 1
        let timer = LoopTimer(due: due, order: made, body: body)
        items.append(timer)
        var child = items.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard items[child].isBefore(items[parent]) else { break }
            items.swapAt(child, parent)
            child = parent
        }
        return timer
    }

    /// For `epoll_wait`: -1 without timers, never early (rounded up to the next millisecond).
    var millisecondsToNext: Int32 {
        guard let next = items.first else { return -1 }
        let left = next.timeLeft(at: .now)
        guard left > .zero else { return 0 }
        let (seconds, attoseconds) = left.components
        if seconds >= 3_600 { return 3_600_000 }
        return Int32(seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }

    var isEmpty: Bool { items.isEmpty }

    /// Takes out the next timer that is due; the caller fires it, since its body may make new timers.
    mutating func takeDue(at now: ContinuousClock.Instant) -> LoopTimer? {
        while let first = items.first, first.isCancelled || first.isDue(at: now) {
            removeFirst()
            if !first.isCancelled { return first }
        }
        return nil
    }

    private mutating func removeFirst() {
        items.swapAt(0, items.count - 1)
        items.removeLast()
        siftDown(from: 0)
    }

    private mutating func siftDown(from start: Int) {
        var parent = start
        while true {
            var least = parent
            let left = 2 * parent + 1
            if left < items.count, items[left].isBefore(items[least]) { least = left }
            if left + 1 < items.count, items[left + 1].isBefore(items[least]) { least = left + 1 }
            if least == parent { return }
            items.swapAt(parent, least)
            parent = least
        }
    }

    /// A timeout that is nearly always cancelled would otherwise pile up until its due time.
    private mutating func sweepIfWorthwhile() {
        insertsSinceSweep += 1
        guard insertsSinceSweep > max(1_024, items.count) else { return }
        insertsSinceSweep = 0
        items.removeAll { $0.isCancelled }
        for parent in stride(from: items.count / 2 - 1, through: 0, by: -1) {
            siftDown(from: parent)
        }
    }
}
