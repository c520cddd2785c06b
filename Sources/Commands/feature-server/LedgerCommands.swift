internal import CommandLine
internal import FeatureLedger
internal import FeatureModel
internal import Postgres

/// `check` and `rebuild`: what is kept against what the ledger makes.
struct LedgerCommands {
    let context: CommandContext

    func check() throws -> ExitCode {
        let selection = try selection()
        let context = context
        return try context.withPool { pool in
            let auditor = LedgerAuditor(pool: pool)
            var count = 0
            var wrong = 0
            try await selection.forEach(auditor) { subject in
                count += 1
                let findings = try await auditor.check(subject)
                if !findings.isEmpty { wrong += 1 }
                for finding in findings {
                    context.terminal.output.writeLine(
                        printable("\(subject.environment) \(subject.customer): \(finding)"))
                }
            }
            context.terminal.error.writeLine("\(count) customers were checked, \(wrong) differ.")
            return wrong == 0 ? .ok : .diverged
        }
    }

    func rebuild() throws -> ExitCode {
        let selection = try selection()
        let author = try context.author()
        let context = context
        return try context.withPool { pool in
            let auditor = LedgerAuditor(pool: pool)
            if context.isDryRun {
                var wrong = 0
                try await selection.forEach(auditor) { subject in
                    let findings = try await auditor.check(subject)
                    if !findings.isEmpty { wrong += 1 }
                    if !findings.isEmpty, wrong <= 10 {
                        context.terminal.error.writeLine(
                            printable("would rebuild \(subject.environment) \(subject.customer)"))
                    }
                }
                context.terminal.error.writeLine(
                    "\(wrong) customers would be rebuilt; nothing was (--dry-run).")
                return .ok
            }
            try context.agree(to: "Rebuild \(selection.words) where the ledger says otherwise?")
            var done = Tally()
            try await selection.forEach(auditor) { subject in
                done.count += 1
                do {
                    if try await auditor.rebuild(subject, by: author) { done.changed += 1 }
                } catch let defect as AccountDefect {
                    done.broken += 1
                    context.say(
                        "\(subject.environment) \(subject.customer) was left as it is: \(defect)")
                }
            }
            context.terminal.output.writeLine(
                "\(done.count) customers were looked at, \(done.changed) rebuilt.")
            return done.broken == 0 ? .ok : .partly
        }
    }

    private struct Tally {
        var count = 0
        var changed = 0
        var broken = 0
    }

    /// Whom the line names; nobody is refused unless it says `--all`.
    private func selection() throws -> Selection {
        let named = context.command.allArguments("CUSTOMER")
        let isAll = context.command.flag("all")
        guard named.isEmpty == isAll else {
            throw UsageError(
                path: context.command.path, "Name customers, or say --all; one of them.")
        }
        let word = context.command.option("environment")
        if isAll {
            let environments =
                try word == nil
                ? LedgerEnvironment.allCases : [context.ledgerEnvironment()]
            return Selection(environments: environments, customers: nil)
        }
        let customers = try named.map { text in
            guard let key = CustomerKey(text) else {
                throw UsageError(
                    path: context.command.path,
                    "CUSTOMER is 1 to 256 characters without blanks around them.")
            }
            return key
        }
        return Selection(environments: [try context.ledgerEnvironment()], customers: customers)
    }
}

/// Customers to go through.
private struct Selection: Sendable {
    let environments: [LedgerEnvironment]
    /// Nil for every customer.
    let customers: [CustomerKey]?

    var words: String {
        customers.map { "\($0.count) customers" } ?? "every customer"
    }

    func forEach(
        _ auditor: LedgerAuditor, _ body: (LedgerAuditor.Subject) async throws -> Void
    ) async throws {
        for environment in environments {
            for customer in customers ?? [] {
                try await body(.init(environment: environment, customer: customer))
            }
            guard customers == nil else { continue }
            var last: CustomerKey?
            while true {
                let page = try await auditor.subjects(in: environment, after: last)
                for subject in page { try await body(subject) }
                guard let end = page.last else { break }
                last = end.customer
            }
        }
    }
}
