import Locks

// What the page's fragments call, so that a test sees what the app would have done.

/// What fragments did, in order.
let done = Guarded<[String]>([])

func note(_ deed: String) { done.withLock { $0.append(deed) } }

/// What was done since the last time this was asked.
func deeds() -> [String] {
    done.withLock { deeds in
        defer { deeds = [] }
        return deeds
    }
}

func showPremiumContent() { note("premium") }
func showUpgradePrompt() { note("upgrade") }
func showEnabledGenerateButton() { note("generate enabled") }
func proceedWithGeneration(remaining: Int?) {
    note("generated, \(remaining.map { "\($0)" } ?? "?") left")
}
