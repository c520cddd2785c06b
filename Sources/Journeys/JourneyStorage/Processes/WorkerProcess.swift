package import TimeZones

/// One process of the worker, as it tells of itself.
package struct WorkerProcess: Sendable, Hashable {
    /// One account that a dispatcher serves, and what holds for it over all processes.
    package struct Account: Sendable, Hashable {
        /// The tool's word, such as `http`.
        package var tool: String
        /// Empty for a tool without account.
        package var name: String
        /// Attempts at once; nil for a tool without account.
        package var concurrency: Int?
        /// Attempts that may start in a second; nil for no bound.
        package var ratePerSecond: Double?

        package init(
            tool: String, name: String, concurrency: Int? = nil, ratePerSecond: Double? = nil
        ) {
            self.tool = tool
            self.name = name
            self.concurrency = concurrency
            self.ratePerSecond = ratePerSecond
        }
    }

    /// What a process does, in the words of `--role`.
    package enum Role: String, Sendable, Hashable, CaseIterable {
        case ingest, worker, dispatch
    }

    package var id: String
    /// The machine's name, for people.
    package var host: String
    package var roles: Set<Role>
    /// It was started to send nothing.
    package var holdsEffects: Bool
    /// Attempts at once in this process.
    package var dispatchConcurrency: Int
    package var accounts: [Account]
    /// When it took its last turn; nil before the first.
    package var turnAt: Instant?
    /// What keeps it from taking turns, or from making attempts, at the moment.
    package var turnTrouble: String?
    package var dispatchTrouble: String?
    /// The database's times; they are not told but found.
    package var startedAt = Instant.earliest
    package var seenAt = Instant.earliest
    /// When it was told to stop.
    package var endedAt: Instant?

    package init(
        id: String, host: String, roles: Set<Role>, holdsEffects: Bool = false,
        dispatchConcurrency: Int, accounts: [Account] = []
    ) {
        self.id = id
        self.host = host
        self.roles = roles
        self.holdsEffects = holdsEffects
        self.dispatchConcurrency = dispatchConcurrency
        self.accounts = accounts
    }

    /// How long a process may say nothing before it counts as gone: it tells of itself every
    /// ``ProcessStore/pause``.
    package static let silenceLimit = Duration.seconds(45)

    /// Whether it is there at this time, so far as the database knows.
    package func isThere(at now: Instant) -> Bool {
        endedAt == nil && seenAt + Self.silenceLimit > now
    }

    /// Whether its dispatcher is there and would send what it serves.
    package func sends(at now: Instant) -> Bool {
        isThere(at: now) && roles.contains(.dispatch) && !holdsEffects
    }
}
