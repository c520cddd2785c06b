internal import CommandLine
internal import FeatureModel
internal import FeatureReading
internal import JSON
internal import JourneyStorage
internal import Postgres
internal import TimeZones

/// What the feature house says of a customer, shown beside what the journey side knows.
struct CustomerAccess {
    /// Of all the customer's ids, their own first.
    let rows: [AccessRow]

    /// One a line.
    var sentences: [String] {
        rows.map { row in
            var words = "Feature \(row.feature)"
            if let entity = row.entity { words += " of \(entity)" }
            words += row.access.allowed ? ": allowed" : ": denied"
            if row.access.unlimited { words += ", unlimited" }
            if let balance = row.access.balance { words += ", \(balance) left" }
            words += ", for \(row.customer) since \(row.changedAt)"
            if let next = row.changesAt { words += ", until \(next)" }
            return words
        }
    }

    var json: JSONValue {
        .array(
            rows.map { row in
                [
                    "id": .string(row.customer), "feature": .string(row.feature),
                    "entity": row.entity.map { .string($0) } ?? .null,
                    "allowed": .bool(row.access.allowed), "unlimited": .bool(row.access.unlimited),
                    "balance": row.access.balance.map { .integer($0) } ?? .null,
                    "type": .string(row.access.type.rawValue),
                    "changed_at": .string(row.changedAt.description),
                    "changes_at": row.changesAt.map { .string($0.description) } ?? .null,
                ]
            })
    }
}

extension ReplayCall {
    /// What a customer may use, under any of their ids; nil where there is no feature side that may be read.
    ///
    /// - Parameter pool: of the journey side's database, where the features are unless the configuration
    ///   names another.
    func access(of view: CustomerView, _ pool: PostgresPool) async throws -> CustomerAccess? {
        guard let environment = AccessEnvironment(rawValue: view.environment) else { return nil }
        let choice = try DatabaseChoice.make(
            parsed, environment: self.environment, changes: false)
        guard let elsewhere = choice.featureString else {
            return try await Self.access(of: view, in: environment, pool)
        }
        let features = PostgresPool(
            settings: PostgresSettings(
                connectionString: elsewhere, applicationName: "journey-replay",
                preparation: choice.prepares ? .automatic : .never), size: 1, loop: command.loop)
        let result: Result<CustomerAccess?, any Error>
        do {
            result = .success(try await Self.access(of: view, in: environment, features))
        } catch {
            result = .failure(error)
        }
        await features.close()
        return try result.get()
    }

    private static func access(
        of view: CustomerView, in environment: AccessEnvironment, _ pool: PostgresPool
    ) async throws -> CustomerAccess? {
        let reader = AccessReader(pool: pool)
        guard try await reader.isInstalled() else { return nil }
        let ids = view.ids.map(\.id).prefix(AccessReader.most)
        let rows = try await reader.everything(of: Array(ids), in: environment)
        let order = Dictionary(ids.enumerated().map { ($1, $0) }) { first, _ in first }
        return CustomerAccess(
            rows: rows.sorted {
                (order[$0.customer] ?? 0, $0.feature, $0.entity ?? "")
                    < (order[$1.customer] ?? 0, $1.feature, $1.entity ?? "")
            })
    }
}
