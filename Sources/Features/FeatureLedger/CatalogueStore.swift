internal import Crypto
package import FeatureModel
internal import JSON
internal import Locks
package import Postgres

/// Publishes catalogues, and hands out the live one.
package struct CatalogueStore: Sendable {
    /// A published catalogue.
    package struct Published: Sendable, Hashable {
        /// From 1; 0 stands for none.
        package let version: Int
        /// What is in it.
        package let catalogue: Catalogue
    }

    /// What publishing did.
    package struct Publication: Sendable, Hashable {
        /// The live version afterwards.
        package let version: Int
        /// False when the live one was the same already.
        package let isNew: Bool
    }

    private let pool: PostgresPool
    private let cache = CatalogueCache()

    /// - Parameter pool: of a role that may read `features.catalogues`, and to publish may add to it.
    package init(pool: PostgresPool) { self.pool = pool }

    /// The live catalogue; version 0 and empty when none was published.
    package func live() async throws -> Published {
        let version = Int(try await pool.query(Self.newest).only().int32("version"))
        return try await catalogue(version) { (statement, values) async throws(PostgresError) in
            try await pool.query(statement, values)
        }
    }

    /// Makes a catalogue the live one. The same as the live one changes nothing.
    ///
    /// - Throws: ``PublishRefusal`` when customers could lose what they hold.
    package func publish(
        _ catalogue: Catalogue, by who: String, reason: String
    ) async throws -> Publication {
        let bytes = catalogue.document.canonicalBytes
        let digest = SHA256.hex(bytes)
        return try await pool.withTransaction(retries: 3) { tx in
            // Two at once: the second compares with what the first published.
            _ = try await tx.query(Self.lock)
            let version = Int(try await tx.query(Self.newest).only().int32("version"))
            let live = try await self.catalogue(version) {
                (statement, values) async throws(PostgresError) in
                try await tx.query(statement, values)
            }
            if version > 0, live.catalogue == catalogue {
                return Publication(version: version, isNew: false)
            }
            let obstacles = catalogue.obstacles(after: live.catalogue)
            guard obstacles.isEmpty else { throw PublishRefusal(sentences: obstacles) }
            _ = try await tx.pipelineAndCommit([
                (
                    Self.insert,
                    [
                        .int4(Int32(version + 1)), .text(digest), .bytea(bytes), .text(who),
                        .text(reason),
                    ]
                ),
                AuditRow(
                    who: who, verb: "publish", reason: reason, detail: ["digest": .string(digest)]
                )
                .insertion,
            ])
            return Publication(version: version + 1, isNew: true)
        }
    }

    /// A version's catalogue, read once.
    func catalogue(
        _ version: Int,
        _ query: (SQLStatement, [PostgresValue]) async throws(PostgresError) -> PostgresRows
    ) async throws -> Published {
        if version == 0 { return Published(version: 0, catalogue: Catalogue()) }
        if let known = cache.catalogue(version) { return known }
        let row = try await query(Self.select, [.int4(Int32(version))]).only()
        let read = Published(
            version: version, catalogue: try Catalogue(published: try row.bytes("canonical")))
        cache.keep(read)
        return read
    }

    static let newest = SQLStatement(
        "catalogue_newest",
        "select coalesce(max(version), 0) as version from features.catalogues")

    private static let lock = SQLStatement(
        "catalogue_lock",
        "select pg_advisory_xact_lock(hashtextextended('features catalogue', 0))")

    private static let select = SQLStatement(
        "catalogue_select", "select canonical from features.catalogues where version = $1")

    private static let insert = SQLStatement(
        "catalogue_insert",
        """
        insert into features.catalogues (version, digest, canonical, published_by, reason)
        values ($1, $2, $3, $4, $5)
        """)
}

/// Why a catalogue cannot follow the live one.
package struct PublishRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// One for each obstacle.
    package let sentences: [String]

    package var description: String { sentences.joined(separator: "\n") }
}

/// The last catalogues that were read; versions never change.
private final class CatalogueCache: Sendable {
    private let kept = Guarded<[CatalogueStore.Published]>([])

    func catalogue(_ version: Int) -> CatalogueStore.Published? {
        kept.withLock { kept in kept.first { $0.version == version } }
    }

    func keep(_ published: CatalogueStore.Published) {
        kept.withLock { kept in
            if kept.contains(where: { $0.version == published.version }) { return }
            kept.append(published)
            // The live one, and the one before it while a publication spreads.
            if kept.count > 2 { kept.removeFirst() }
        }
    }
}
