internal import CommandLine
internal import Crypto
internal import FeatureLedger
internal import FeatureModel
internal import JSON
internal import TimeZones

/// `show`, `grant`, `revoke` and `forget`: one customer by hand.
struct CustomerCommands {
    let context: CommandContext

    func show() throws -> ExitCode {
        let (customer, environment) = try subject()
        let context = context
        let format = OutputFormat.of(context.command)
        return try context.withPool { pool in
            let store = LedgerStore(pool: pool, catalogues: CatalogueStore(pool: pool))
            let view = try await store.view(of: customer, in: environment)
            guard view.account.revision > 0 else {
                throw CommandFailure(
                    .notFound, "Nothing was ever granted to \(customer) in \(environment).")
            }
            context.terminal.output.write(Self.table(view).text(format))
            return .ok
        }
    }

    func grant() throws -> ExitCode {
        let (customer, environment) = try subject()
        let author = try context.author()
        let entity: EntityKey? = try context.optionalKey("entity")
        let end = try until()
        let context = context
        let wish = try GrantWish(context)
        return try context.withPool { pool in
            let catalogues = CatalogueStore(pool: pool)
            let entitlements = try wish.entitlements(in: try await catalogues.live().catalogue)
            let id = GrantID.byOperator(Hex.encode(randomBytes(8)))
            for entitlement in entitlements {
                context.terminal.error.writeLine(
                    printable("\(customer) gets \(entitlement.sentence)"))
            }
            if context.isDryRun {
                context.terminal.error.writeLine("Nothing was granted (--dry-run).")
                return .ok
            }
            try context.agree(to: "Grant this to \(customer) in \(environment)?")
            let store = LedgerStore(pool: pool, catalogues: catalogues)
            _ = try await store.grant(
                OperatorGrant(id: id, entitlements: entitlements, entity: entity, endsAt: end),
                to: customer, in: environment, by: author)
            // Alone on standard output, for revoke.
            context.terminal.output.writeLine(id.text)
            return .ok
        }
    }

    func revoke() throws -> ExitCode {
        let (customer, environment) = try subject()
        let author = try context.author()
        let grant: GrantID = try context.key("GRANT")
        let context = context
        return try context.withPool { pool in
            let store = LedgerStore(pool: pool, catalogues: CatalogueStore(pool: pool))
            let view = try await store.view(of: customer, in: environment)
            let held = view.account.holdings.filter { $0.grant == grant }
            let missing = CommandFailure(
                .notFound,
                "\(customer) holds nothing of \(grant) in \(environment); see feature-server show.")
            guard !held.isEmpty else { throw missing }
            for holding in held {
                context.terminal.error.writeLine(
                    printable("\(customer) loses \(holding.sentence(at: view.now))"))
            }
            if context.isDryRun {
                context.terminal.error.writeLine("Nothing was revoked (--dry-run).")
                return .ok
            }
            try context.agree(to: "Revoke \(grant) of \(customer)?")
            guard
                try await store.revoke(grant, of: customer, in: environment, by: author) != nil
            else { throw missing }
            context.terminal.output.writeLine("Revoked \(printable(grant.text)).")
            return .ok
        }
    }

    func forget() throws -> ExitCode {
        let (customer, environment) = try subject()
        let author = try context.author()
        let context = context
        return try context.withPool { pool in
            let store = LedgerStore(pool: pool, catalogues: CatalogueStore(pool: pool))
            let view = try await store.view(of: customer, in: environment)
            context.terminal.error.writeLine(
                printable(
                    "\(customer) in \(environment): \(view.account.revision) entries, "
                        + "\(view.account.holdings.count) holdings."))
            if context.isDryRun {
                context.terminal.error.writeLine("Nothing was forgotten (--dry-run).")
                return .ok
            }
            try context.agree(to: "Delete everything about \(customer) in \(environment)?")
            let deleted = try await store.forget(customer, in: environment, by: author)
            guard deleted > 0 else {
                throw CommandFailure(
                    .notFound, "Nothing is known of \(customer) in \(environment).")
            }
            context.terminal.output.writeLine("Forgotten: \(deleted) rows.")
            return .ok
        }
    }

    // MARK: Words of the line

    private func subject() throws -> (CustomerKey, LedgerEnvironment) {
        (try context.key("CUSTOMER"), try context.ledgerEnvironment())
    }

    private func until() throws -> Moment? {
        guard let text = context.command.option("until") else { return nil }
        guard let instant = Instant(text), instant > systemClock() else {
            throw UsageError(
                path: context.command.path,
                "--until is a time to come, as 2027-01-01T00:00:00Z, not \"\(text)\".")
        }
        return Moment(milliseconds: instant.milliseconds)
    }

    private static func table(_ view: LedgerStore.View) -> Table {
        Table(
            columns: [
                Table.Column("GRANT", key: "grant"), Table.Column("FEATURE", key: "feature"),
                Table.Column("ENTITY", key: "entity"), Table.Column("STATE", key: "state"),
                Table.Column("LEFT", key: "left", alignment: .right),
                Table.Column("OF", key: "of", alignment: .right),
                Table.Column("EVERY", key: "interval"), Table.Column("STARTS", key: "starts_at"),
                Table.Column("RESETS", key: "resets_at"), Table.Column("ENDS", key: "ends_at"),
            ], rows: view.account.holdings.map { $0.row(at: view.now) }, idKey: "grant")
    }
}
