internal import CommandLine
internal import Configuration
internal import FeatureLedger
internal import FeatureModel

/// `publish`: catalogue files become what can be granted.
struct PublishCommand {
    let context: CommandContext

    func run() throws -> ExitCode {
        let author = try context.author()
        let catalogue = try read(context.command.allArguments("FILE"))
        let counts =
            "\(catalogue.features.count) features and \(catalogue.products.count) products"
        let context = context
        if context.isDryRun, context.command.option("database") == nil,
            context.command.option("config") == nil, context.command.option("data") == nil
        {
            context.terminal.output.writeLine("The files are in order: \(counts).")
            return .ok
        }
        return try context.withPool { pool in
            let store = CatalogueStore(pool: pool)
            let live = try await store.live()
            if live.version > 0, live.catalogue == catalogue {
                context.terminal.output.writeLine(
                    "Nothing changes: version \(live.version) is this catalogue.")
                return .ok
            }
            for line in Self.differences(from: live.catalogue, to: catalogue) {
                context.terminal.error.writeLine(printable(line))
            }
            let obstacles = catalogue.obstacles(after: live.catalogue)
            for obstacle in obstacles { context.say(obstacle) }
            guard obstacles.isEmpty else {
                throw CommandFailure(.refused, "Nothing was published.")
            }
            if context.isDryRun {
                context.terminal.error.writeLine("Nothing was published (--dry-run).")
                return .ok
            }
            try context.agree(to: "Publish \(counts)?")
            let done = try await store.publish(
                catalogue, by: author.who, reason: author.reason)
            context.terminal.output.writeLine(
                "Published version \(done.version): \(counts).")
            return .ok
        }
    }

    func read(_ paths: [String]) throws -> Catalogue {
        var files: [CatalogueReader.File] = []
        for path in paths {
            if path.hasSuffix(".json") {
                files.append(try Self.file(path))
                continue
            }
            for name in try BoundedFile.names(in: path) where name.hasSuffix(".json") {
                files.append(try Self.file(path + "/" + name))
            }
        }
        guard !files.isEmpty else {
            throw CommandFailure(
                .usage, "There are no .json files in \(paths.joined(separator: ", ")).")
        }
        let outcome = CatalogueReader.read(files)
        for diagnostic in outcome.diagnostics {
            context.terminal.error.writeLine(printable(diagnostic.description))
        }
        guard let catalogue = outcome.catalogue else {
            throw CommandFailure(
                .failed, "Nothing was published: mend \(outcome.diagnostics.count) problems first.")
        }
        return catalogue
    }

    private static func file(_ path: String) throws -> CatalogueReader.File {
        CatalogueReader.File(
            name: path, bytes: try BoundedFile.read(path, limit: CatalogueReader.longestFile))
    }

    /// What is new, changed or gone, one line each.
    private static func differences(from old: Catalogue, to new: Catalogue) -> [String] {
        let features = Set(old.features.keys).union(new.features.keys).sorted().compactMap { key in
            word(old.features[key], new.features[key]).map { "\($0)  feature \(key)" }
        }
        let products = Set(old.products.keys).union(new.products.keys).sorted().compactMap { key in
            word(old.products[key], new.products[key]).map { "\($0)  product \(key)" }
        }
        return features + products
    }

    private static func word<Part: Equatable>(_ old: Part?, _ new: Part?) -> String? {
        if old == new { return nil }
        if old == nil { return "new    " }
        return new == nil ? "gone   " : "changed"
    }
}
