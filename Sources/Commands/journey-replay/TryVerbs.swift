internal import CommandLine
internal import Configuration
internal import JSON
internal import JourneyEngine
internal import Templates
internal import TimeZones
internal import WorkflowDefinitions

extension CommandSpecification {
    static let scopeText = """
        A scope file is a JSON object with any of event, trigger, customer, subscription, features, \
        steps, run and now, as pointers name them; also subscriptions (a list of states), segments \
        ({"<id>": {"member", "entered_at"?}}) and events ([{"event", "occurred_at", "properties"?}]) for \
        the questions a condition may ask. The time is --at, else the file's now, else the clock's.
        """
    static let scope = OptionSpecification(
        "scope", valueName: "FILE", help: "JSON object with the scope's top-level names")
    private static let file = ArgumentSpecification("FILE", help: "what to try")

    /// Verbs that try one part by itself; they need no database and send nothing.
    static let trying = [
        CommandSpecification(
            name: "try", summary: "Try a connector, condition, value or template by itself",
            examples: [
                Example(
                    "journey-replay try connector revenuecat --body body.json",
                    "the event that a body becomes")
            ],
            subcommands: [
                tryConnector,
                CommandSpecification(
                    name: "condition", summary: "Decide a condition over a scope",
                    discussion:
                        "Prints {\"result\", \"because\", \"until\"?}: true, false or unknown, "
                        + "the leaves that decided, and when time alone could change it.\n\n"
                        + scopeText,
                    examples: [
                        Example(
                            "journey-replay try condition where.json --scope scope.json",
                            "whether it holds, and why")
                    ],
                    options: [scope, .at], arguments: [file]),
                CommandSpecification(
                    name: "window", summary: "Show whether a window is open, and when that changes",
                    discussion:
                        "FILE holds {\"start\", \"end\", \"days\"?, \"timezone\"?}, as a send window or a "
                        + "time_window has them. Prints {\"inside\", \"opens_at\"?, \"closes_at\"?}.",
                    examples: [
                        Example(
                            "journey-replay try window quiet.json --at 2026-03-29T00:30:00Z "
                                + "--timezone Europe/Berlin",
                            "whether a message may go out then")
                    ],
                    options: [
                        .at,
                        OptionSpecification(
                            "timezone", valueName: "ZONE",
                            help: "whose clocks; the file's when left out, else Etc/UTC"),
                    ], arguments: [file]),
                CommandSpecification(
                    name: "value", summary: "Resolve a value over a scope",
                    discussion: "Prints {\"known\", \"value\"?}; a missing value is not known.\n\n"
                        + scopeText,
                    examples: [
                        Example(
                            "journey-replay try value value.json --scope scope.json",
                            "what it resolves to")
                    ],
                    options: [scope, .at], arguments: [file]),
                CommandSpecification(
                    name: "template", summary: "Render a template over a scope",
                    discussion: "A template may read any name of the scope file.",
                    examples: [
                        Example(
                            "journey-replay try template body.txt --scope scope.json --escape html",
                            "the text as a message would carry it")
                    ],
                    options: [
                        scope, .at,
                        OptionSpecification(
                            "escape", valueName: "FOR", choices: ["none", "html", "slack"],
                            help: "what values are escaped for; none when left out"),
                        OptionSpecification(
                            "missing", valueName: "HOW", choices: ["error", "empty"],
                            help: "what a missing variable does; error when left out"),
                        OptionSpecification(
                            "partials", valueName: "FILE",
                            help: "JSON object of partials: name to template"),
                    ], arguments: [file]),
                tryAction,
            ])
    ]

    private static let tryConnector = CommandSpecification(
        name: "connector", summary: "Show what the webhook endpoint makes of a body",
        discussion: """
            Prints {"status", "authenticated", "reason"?, "event"?}: the status the endpoint would \
            answer and the event a turn would see. NAME is a connector of --config, else a provider \
            with its defaults.

            The sender is checked when there are --headers and a secret (the configuration's or \
            --secret); else authenticated is null. A secret on the command line shows in the list of \
            processes.

            A line of --batch is {"body" or "body_base64", "headers"?, "secrets"?, "scheme"?, "at"?, \
            "id"?}; the id is handed back.
            """,
        examples: [
            Example(
                "journey-replay try connector revenuecat --body body.json",
                "the event that a body becomes"),
            Example(
                "journey-replay try connector superwall --body b.json --headers h.json --secret whsec_…",
                "whether a signature holds"),
        ],
        options: [
            OptionSpecification("body", valueName: "FILE", help: "the request's body"),
            OptionSpecification(
                "batch", valueName: "FILE",
                help: "many deliveries, one JSON object a line; one result a line comes out"),
            OptionSpecification(
                "headers", valueName: "FILE", help: "the request's headers as a JSON object"),
            OptionSpecification("secret", valueName: "TEXT", help: "the secret to check with"),
            OptionSpecification(
                "scheme", valueName: "NAME",
                help: "the authentication scheme; the provider's usual one when left out"),
            .at,
        ],
        arguments: [ArgumentSpecification("NAME", help: "a connector or provider")])
}

extension ReplayCall {
    func tryCondition() throws {
        let condition = try readPart(WorkflowParser.readCondition)
        let file = try scopeFile()
        var evaluator = Evaluator(scope: file.scope, facts: file.facts)
        let verdict = evaluator.decide(condition)
        var object = JSONObject([
            ("result", .string(verdict.truth.rawValue)),
            ("because", .array(verdict.because.map(\.json))),
        ])
        object["until"] = verdict.changesAt.map { .string($0.description) }
        terminal.output.writeLine(JSONValue.object(object).pretty)
    }

    func tryValue() throws {
        let value = try readPart(WorkflowParser.readValue)
        let file = try scopeFile()
        var evaluator = Evaluator(scope: file.scope, facts: file.facts)
        let found = evaluator.resolve(value)
        var object = JSONObject([("known", .bool(found != nil))])
        object["value"] = found
        terminal.output.writeLine(JSONValue.object(object).pretty)
    }

    func tryTemplate() throws {
        let path = parsed.argument("FILE") ?? ""
        let bytes = try BoundedFile.read(path, limit: Template.Limits.sourceBytes)
        let scope = try templateScope()
        let partials = try readPartials()
        let escaping: Template.Escaping =
            switch parsed.option("escape") {
            case "html": .html
            case "slack": .slack
            default: .none
            }
        let missing: Template.Missing = parsed.option("missing") == "empty" ? .empty : .error
        guard let source = String(validating: bytes, as: UTF8.self) else {
            throw ReplayFailure("\(path) is not UTF-8; save it as such.")
        }
        do {
            let template = try Template(source)
            // A rendering's own bytes and nothing after them: it can be compared.
            terminal.output.write(
                try template.render(
                    value: scope,
                    options: Template.Options(
                        missing: missing, escaping: escaping, partials: partials)))
        } catch {
            throw ReplayFailure("\(path): \(error)")
        }
    }

    /// A template reads whatever names the file has; `now` is added where it is missing.
    private func templateScope() throws -> JSONValue {
        let value = try ScopeFile.value(try required("scope"))
        guard var object = value.object else { return value }
        if object["now"] == nil || parsed.option("at") != nil {
            object["now"] = .string(try instant().description)
        }
        return .object(object)
    }

    private func readPartials() throws -> [String: Template] {
        guard let path = parsed.option("partials") else { return [:] }
        guard let object = try ScopeFile.value(path).object else {
            throw ReplayFailure(.usage, "The partials file \(path) is no object of templates.")
        }
        var partials: [String: Template] = [:]
        for (name, value) in object {
            guard let source = value.string else {
                throw ReplayFailure(
                    .usage, "The partial \"\(name)\" in \(path) is \(value.kind); write a text.")
            }
            do {
                partials[name] = try Template(source)
            } catch {
                throw ReplayFailure("\(path), partial \"\(name)\": \(error)")
            }
        }
        return partials
    }

    func scopeFile() throws -> ScopeFile {
        let time = parsed.option("at") == nil ? nil : try instant()
        return try ScopeFile(path: try required("scope"), time: time, clock: command.now())
    }

    /// Reads the file of one condition or value; its problems go to standard error.
    private func readPart<Part>(
        _ read: ([UInt8], String) -> (Part?, [Diagnostic])
    ) throws -> Part {
        let path = parsed.argument("FILE") ?? ""
        let bytes = try BoundedFile.read(path, limit: WorkflowParser.longestFile)
        let (part, diagnostics) = read(bytes, path)
        for diagnostic in diagnostics {
            terminal.error.writeLine(printable(diagnostic.description))
        }
        guard let part else { throw ReplayFailure("\(path) cannot be read; mend it.") }
        return part
    }
}
