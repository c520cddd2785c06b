// Where a debug build can be made to die or freeze, for tests that prove what survives it.

#if DEBUG
    internal import Glibc
    internal import Synchronization

    /// What `PROOF_FAIL_POINT` says: `NAME`, `NAME:NTH` or `NAME:NTH:pause`. The process that passes the
    /// point for the NTH time (from 1) kills itself with SIGKILL, or stops itself with SIGSTOP; a point whose
    /// name is not the one asked for does nothing.
    @usableFromInline
    package struct FailPointOrder: Sendable, Hashable {
        /// What the process does at the point.
        package enum Action: Sendable, Hashable {
            /// Ends the process as `kill -9` does: nothing is flushed, closed or handed back.
            case kill
            /// Freezes the process until somebody sends SIGCONT.
            case pause
        }

        package var name: String
        package var nth: Int
        package var action: Action

        /// Nil for a text that is no order.
        package init?(_ text: String) {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            guard let name = parts.first, !name.isEmpty, parts.count <= 3 else { return nil }
            var nth = 1
            if parts.count > 1 {
                guard let number = Int(parts[1]), number > 0 else { return nil }
                nth = number
            }
            if parts.count > 2, parts[2] != "pause" { return nil }
            self.name = String(name)
            self.nth = nth
            action = parts.count > 2 ? .pause : .kill
        }

        /// What the environment of this process orders.
        static let ofProcess: FailPointOrder? = {
            guard let text = getenv("PROOF_FAIL_POINT") else { return nil }
            guard let order = FailPointOrder(String(cString: text)) else {
                fatalError(
                    "PROOF_FAIL_POINT is \(String(cString: text)); write NAME, NAME:NTH or "
                        + "NAME:NTH:pause")
            }
            return order
        }()

        private static let passed = Atomic<Int>(0)

        /// Carries out the order of the process when this is the point and the time.
        @usableFromInline package static func pass(_ name: () -> String) {
            guard let order = ofProcess, order.name == name(),
                passed.add(1, ordering: .relaxed).newValue == order.nth
            else { return }
            switch order.action {
            case .kill:
                kill(getpid(), SIGKILL)
                // The signal is on its way; nothing more may happen meanwhile.
                while true { sleep(1) }
            case .pause: kill(getpid(), SIGSTOP)
            }
        }
    }
#endif

/// A place where a debug build dies or freezes when `PROOF_FAIL_POINT` names it. A release build holds
/// neither the call nor the name.
@inlinable @inline(__always)
package func failPoint(_ name: @autoclosure () -> String) {
    #if DEBUG
        FailPointOrder.pass(name)
    #endif
}
