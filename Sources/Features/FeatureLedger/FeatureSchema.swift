package import Postgres

/// The schema `features`: its migrations.
package enum FeatureSchema {
    /// Append-only: a released migration is never edited.
    package static let migrations: [Migration] = [
        migration(1, "catalogue", PackageResources.m0001_catalogue_sql),
        migration(2, "ledger", PackageResources.m0002_ledger_sql),
        migration(3, "access", PackageResources.m0003_access_sql),
    ]

    /// Brings the schema forward or says where it stands.
    package static let migrator = Migrator(migrations: migrations, schema: "features")

    private static func migration(_ version: Int, _ name: String, _ sql: [UInt8]) -> Migration {
        Migration(version: version, name: name, sql: String(decoding: sql, as: UTF8.self))
    }
}

/// Which world a row is of. They never meet.
package enum LedgerEnvironment: String, Sendable, Hashable, CaseIterable {
    case production, sandbox
}
