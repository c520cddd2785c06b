internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import TimeZones

/// What drove one decision, read from its row.
struct RecordedInput {
    enum Driver {
        case entry(Run)
        case input(Engine.Input, mayConvert: Bool)
        /// A merge of two records.
        case move(RunMove)
        /// An end from outside the run's steps.
        case outside(RunStatus)
    }

    let driver: Driver
    /// The ordinal of the last input taken.
    let ordinal: Int64
    /// How many engine-made inputs led here.
    let depth: Int

    /// Reads the first entry of a decision.
    ///
    /// - Throws: when it drives nothing that this version knows.
    init(_ first: HistoryEntry, of run: RunID) throws(StoredFormError) {
        let reader = StoredObject(subject: "input", object: first.members)
        ordinal = try reader.integer("ordinal")
        depth = Int(first.members["depth"]?.integer ?? 0)
        if first.kind == .entered {
            driver = .entry(try Run(entered: first))
            return
        }
        guard first.kind == .input else { throw reader.error("kind") }
        if first.members["event"] != nil {
            guard let event = first.event else { throw reader.error("scope") }
            driver = .input(.event(event), mayConvert: first.members["converts"]?.bool ?? true)
        } else if first.members["result"] != nil {
            let result = EffectResult(
                invocation: InvocationID(try reader.string("result")), run: run,
                step: StepID(try reader.string("step")),
                outcome: try EffectOutcome(json: try reader.object("outcome")),
                isMessage: first.members["message"]?.bool)
            driver = .input(.result(result), mayConvert: true)
        } else if first.members["timer"] != nil {
            driver = .input(.timer, mayConvert: true)
        } else if first.members["look"] != nil {
            driver = .input(.look, mayConvert: true)
        } else if first.members["command"] != nil {
            driver = .input(.command(try OperatorCommand(first)), mayConvert: true)
        } else if first.members["merge"] != nil {
            driver = .move(try RunMove(history: first.members))
        } else {
            let word = try reader.string("outside")
            let reason = first.members["reason"]?.string
            guard let status = RunStatus(word: word, reason: reason), !status.isLive else {
                throw reader.error("outside")
            }
            driver = .outside(status)
        }
    }
}

extension OperatorCommand {
    /// Reads the members of an `input` entry.
    fileprivate init(_ entry: HistoryEntry) throws(StoredFormError) {
        let reader = StoredObject(subject: "command", object: entry.members)
        let audit = try reader.integer("audit")
        switch try reader.string("command") {
        case "cancel": self.init(.cancel(reason: try reader.string("reason")), audit: audit)
        case "exit": self.init(.exit(reason: try reader.string("reason")), audit: audit)
        case "skip":
            self.init(
                .skip(
                    step: StepID(try reader.string("step")), outlet: try reader.string("outlet")),
                audit: audit)
        case "retry":
            self.init(.retry(InvocationID(try reader.string("invocation"))), audit: audit)
        default: throw reader.error("command")
        }
    }
}

extension Run {
    /// The run as it was when it entered.
    fileprivate init(entered entry: HistoryEntry) throws(StoredFormError) {
        let reader = StoredObject(subject: "entry", object: entry.members)
        self.init(
            id: RunID(try reader.string("run")),
            customer: CustomerID(try reader.integer("customer")),
            workflow: WorkflowID(try reader.string("workflow")),
            version: Int(try reader.integer("version")), digest: try reader.string("digest"),
            key: entry.members["key"]?.string, slot: Int(try reader.integer("slot")),
            cause: try reader.string("cause"), rerun: Int(try reader.integer("rerun")),
            environment: try reader.string("environment"),
            enteredAt: try reader.instant("at"), trigger: try reader.object("trigger"),
            entryOrdinal: try reader.integer("entry_ordinal"))
        triggerRecordedAt = try reader.instant("trigger_recorded_at")
        if let stored = entry.members["withholding"] {
            guard let read = Withholding(json: stored) else { throw reader.error("withholding") }
            withholding = read
        }
        if let stored = entry.members["subscription"]?.object {
            let member = StoredObject(subject: "entry", object: stored)
            subscription = SubscriptionID(
                connector: try member.string("connector"), key: try member.string("key"))
        }
    }
}

extension HistoryEntry {
    /// Reads what ``json`` wrote; nil when its kind is none that this version knows.
    init?(json: JSONValue) {
        guard let object = json.object, let word = object["kind"]?.string,
            let kind = Kind(rawValue: word)
        else { return nil }
        self.init(kind, JSONObject(object.filter { $0.key != "kind" }))
    }
}
