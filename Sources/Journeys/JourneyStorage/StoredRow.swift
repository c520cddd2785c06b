internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import JourneyTurns

// Reading back the JSON objects that this room wrote.

/// What an inbox row holds.
enum InputKind: String {
    case delivery
    case event
    case result
    case command
    case start
    case exit
    case schedule
    case replay
}

/// A row that this room wrote and can no longer read.
struct StoredRowError: Error, Sendable, Hashable, CustomStringConvertible {
    var what: String
    var fact: String

    var description: String {
        "the stored \(what) cannot be read: \(fact); correct or discard it, then retry the customer"
    }
}

/// `what` names the row in the sentence of a failure.
func readObject(_ bytes: [UInt8], _ what: String) throws(StoredRowError) -> JSONObject {
    let value: JSONValue
    do {
        value = try JSONParser.parse(bytes, options: storedJSON)
    } catch {
        throw StoredRowError(what: what, fact: error.description)
    }
    guard let object = value.object else {
        throw StoredRowError(what: what, fact: "it is \(value.kind), not an object")
    }
    return object
}

func readForm<Value>(
    _ what: String, _ read: () throws(StoredFormError) -> Value
) throws(StoredRowError) -> Value {
    do {
        return try read()
    } catch {
        throw StoredRowError(what: what, fact: error.description)
    }
}

func readEvent(_ bytes: [UInt8]) throws(StoredRowError) -> Event {
    let object = try readObject(bytes, "event")
    return try readForm("event") { () throws(StoredFormError) in try Event(json: object) }
}

/// An effect's result: `{"invocation", "run", "step", "outcome": {…}, "message"?}`.
func readResult(_ bytes: [UInt8]) throws(StoredRowError) -> EffectResult {
    let object = try readObject(bytes, "effect result")
    guard let invocation = object["invocation"]?.string, let run = object["run"]?.string,
        let step = object["step"]?.string, let outcome = object["outcome"]?.object
    else { throw StoredRowError(what: "effect result", fact: "a member is missing") }
    return EffectResult(
        invocation: InvocationID(invocation), run: RunID(run), step: StepID(step),
        outcome: try readForm("effect result") { () throws(StoredFormError) in
            try EffectOutcome(json: outcome)
        }, isMessage: object["message"]?.bool)
}

/// An operator's command: `{"command", "audit", "reason", "run", "invocation"?}`.
func readCommand(_ bytes: [UInt8]) throws(StoredRowError) -> CustomerCommand {
    let what = "command"
    let object = try readObject(bytes, what)
    guard let audit = object["audit"]?.integer, let run = object["run"]?.string else {
        throw StoredRowError(what: what, fact: "a member is missing")
    }
    let action: OperatorCommand.Action
    switch object["command"]?.string.flatMap(CommandStore.Verb.init(rawValue:)) {
    case .cancel: action = .cancel(reason: object["reason"]?.string ?? "cancelled")
    case .retry:
        guard let invocation = object["invocation"]?.string else {
            throw StoredRowError(what: what, fact: "it names no effect")
        }
        action = .retry(InvocationID(invocation))
    case nil: throw StoredRowError(what: what, fact: "this program does not know its verb")
    }
    return CustomerCommand(run: RunID(run), command: OperatorCommand(action, audit: audit))
}

/// What this room wrote holds a provider's object some levels down, so it may be deeper than one.
private let storedJSON: JSONParser.Options = {
    var options = JSONParser.Options.webhook
    options.maximumDepth = 256
    return options
}()
