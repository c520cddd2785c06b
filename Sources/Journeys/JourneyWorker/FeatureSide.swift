internal import FeatureModel
internal import FeatureReading
internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import JourneyStorage
internal import Locks
internal import Postgres
internal import Reactor
internal import Settings
internal import Telemetry
internal import TimeZones

/// The feature house as this worker finds it: reads access where the view is there, and knows nothing where
/// it is not. What is said of that is said once, and again when it becomes otherwise.
final class FeatureSide: Sendable {
    /// Whether the view is there and may be read.
    private enum Presence {
        case notLooked, absent, readable
    }

    private let pool: PostgresPool
    private let reader: AccessReader
    private let log: Log
    private let presence = Guarded(Presence.notLooked)

    /// - Parameter pool: of connections of its own: turns hold one of theirs while they ask.
    init(pool: PostgresPool, log: Log) {
        self.pool = pool
        self.log = log
        reader = AccessReader(pool: pool)
    }

    convenience init(settings: WorkerSettings, loop: EventLoop, log: Log) {
        self.init(
            pool: PostgresPool(
                settings: settings.featureDatabase, size: settings.features.pool, loop: loop),
            log: log)
    }

    func close() async { await pool.close() }

    /// Whether it was looked for and is not there.
    var isAbsent: Bool { presence.withLock { $0 == .absent } }

    var house: FeatureHouse {
        FeatureHouse(
            answers: { [self] questions, features in
                try await answers(to: questions, about: features)
            },
            changes: { [self] since, take in try await changes(since: since, take) },
            look: { [self] in try await look() })
    }

    /// Looks whether the view may be read, and says when that has changed.
    ///
    /// - Returns: whether it may.
    @discardableResult
    func look() async throws -> Bool {
        let isReadable = try await reader.isInstalled()
        note(isReadable)
        return isReadable
    }

    private func note(_ isReadable: Bool) {
        let found: Presence = isReadable ? .readable : .absent
        let before = presence.withLock { presence in
            defer { presence = found }
            return presence
        }
        if before == found { return }
        if isReadable {
            log.info("feature access is read")
        } else {
            log.info(
                "there is no view features.access that this role may read: features are unknown",
                [
                    "next_step": .text(
                        "feature-server migrate up, then roles.sql, where they are wanted")
                ])
        }
    }

    // MARK: Answers

    /// What each customer may use. Everything that was asked about is answered, so that what is not held is
    /// denied rather than unknown; where there is no house, and in environments that it has not, nothing is.
    private func answers(
        to questions: [FeatureQuestion], about features: Set<String>
    ) async throws -> [CustomerID: [String: FeatureFacts]] {
        if presence.withLock({ $0 }) != .readable {
            guard try await look() else { return [:] }
        }
        var answers: [CustomerID: [String: FeatureFacts]] = [:]
        for environment in AccessEnvironment.allCases {
            let asked = questions.filter { $0.environment == environment.rawValue }
            let rows = try await rows(of: asked, features.sorted(), in: environment)
            for question in asked {
                var facts: [String: FeatureFacts] = [:]
                for feature in features {
                    facts[feature] = Self.facts(of: question.ids, feature, in: rows)
                }
                answers[question.customer] = facts
            }
        }
        return answers
    }

    struct Place: Hashable {
        let id: String
        let feature: String
    }

    private func rows(
        of questions: [FeatureQuestion], _ features: [String], in environment: AccessEnvironment
    ) async throws -> [Place: [AccessRow]] {
        var rows: [Place: [AccessRow]] = [:]
        var ids = Array(Set(questions.flatMap(\.ids)))[...]
        do throws(PostgresError) {
            while !ids.isEmpty {
                let part = Array(ids.prefix(AccessReader.most))
                ids = ids.dropFirst(part.count)
                for row in try await reader.access(of: part, features: features, in: environment) {
                    rows[Place(id: row.customer, feature: row.feature), default: []].append(row)
                }
            }
        } catch {
            // The view was taken away meanwhile: look again, and say so.
            if ["3F000", "42P01", "42501"].contains(error.sqlState) { note(false) }
            throw error
        }
        return rows
    }

    /// Of a person's ids the first that holds or held the feature speaks for them, their own before others:
    /// balances belong to one id each and are never added up.
    static func facts(
        of ids: [String], _ feature: String, in rows: [Place: [AccessRow]]
    ) -> FeatureFacts {
        let found = ids.lazy.compactMap { rows[Place(id: $0, feature: feature)] }.first ?? []
        var facts = FeatureFacts(own: .denied)
        for row in found {
            let answer = FeatureAnswer(
                allowed: row.access.allowed, unlimited: row.access.unlimited,
                balance: row.access.balance.map { JSONNumber(Int64($0)) },
                type: row.access.type.rawValue, changesAt: row.changesAt)
            if let entity = row.entity {
                facts.entities[entity] = answer
            } else {
                facts.own = answer
            }
        }
        return facts
    }

    // MARK: Changes

    private func changes(
        since: Instant?, _ take: @Sendable ([FeatureHouse.Change]) async throws -> Void
    ) async throws -> Instant {
        let now = try await reader.now()
        guard let since else { return now }
        for environment in AccessEnvironment.allCases {
            var cursor: AccessCursor?
            repeat {
                let page = try await reader.changed(since: since, after: cursor, in: environment)
                let changes = page.rows.map {
                    FeatureHouse.Change(
                        environment: environment.rawValue, id: $0.customer,
                        changedAt: $0.changedAt)
                }
                if !changes.isEmpty { try await take(changes) }
                cursor = page.next
            } while cursor != nil
        }
        return now
    }
}
