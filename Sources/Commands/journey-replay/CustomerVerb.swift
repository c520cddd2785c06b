internal import CommandLine
internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import JourneyStorage
internal import TimeZones

extension ReplayCall {
    func customer() async throws {
        let id = parsed.argument("ID") ?? ""
        try Selector.check(id, parsed.path)
        let limit = try parsed.integer("limit", in: 1...10_000) ?? 200
        try await withDatabase { pool in
            let store = LookStore(pool: pool)
            let view = try await findCustomer(id, nil, in: store)
            let timeline = try await timeline(of: view, in: store)
            let access = try await access(of: view, pool)
            let table = timeline.table(last: limit)
            switch format() {
            case .table:
                printCustomer(view, id: id, access, table, left: timeline.lines.count - limit)
            case .json:
                terminal.output.writeLine(customerJSON(view, access, timeline, last: limit).pretty)
            case .jsonl:
                for line in timeline.ordered.suffix(limit) {
                    terminal.output.writeLine(line.json.text)
                }
            case .ids: for run in view.runs { terminal.output.writeLine(run.id.text) }
            }
        }
    }

    /// The customer that an external id stands for in the environment and app that are meant.
    func findCustomer(
        _ id: String, _ environment: String?, in store: LookStore
    ) async throws -> CustomerView {
        let environment = environment ?? parsed.option("environment") ?? "production"
        let app = parsed.option("app")
        if let view = try await store.customer(id, environment: environment, app: app) {
            return view
        }
        throw ReplayFailure.notFound(
            "No customer is known as \(id) in \(environment)" + (app.map { ", app \($0)" } ?? "")
                + "; name another with --environment or --app, or look for it with journey-replay "
                + "deliveries.")
    }

    /// Everything kept about the customer, as far back as the storage shows.
    private func timeline(
        of customer: CustomerView, in store: LookStore
    ) async throws -> Timeline {
        var timeline = Timeline()
        for logged in customer.events {
            for delivery in try await store.deliveries(of: logged) {
                timeline.addDelivery(
                    String(delivery.id), connector: delivery.connector, at: delivery.receivedAt,
                    state: delivery.state)
            }
            timeline.addEvent(
                logged.event.name, connector: logged.event.connector, at: logged.recordedAt,
                occurredAt: logged.event.occurredAt)
        }
        for run in customer.runs {
            let workflow = run.workflow.text
            for row in try await store.wholeHistory(run.id) {
                timeline.addDecision(
                    of: run.id.text, workflow: workflow, at: row.at, entries: row.entries)
            }
            var filter = EffectFilter()
            filter.run = run.id
            filter.limit = LookStore.listLimit
            for effect in try await store.effects(filter) {
                timeline.add(effect, workflow: workflow)
            }
            if run.endedAt == nil, let wake = run.nextWake {
                timeline.addDue(run: run.id.text, workflow: workflow, step: run.step, at: wake)
            }
        }
        return timeline
    }

    private func printCustomer(
        _ view: CustomerView, id: String, _ access: CustomerAccess?, _ timeline: Table, left: Int
    ) {
        let out = terminal.output
        func line(_ text: String) { out.writeLine(printable(text)) }
        let app = view.app.map { ", app \($0)" } ?? ""
        line(
            "Customer \(id): record \(view.id), \(view.environment)\(app), since \(view.createdAt)")
        let ids = view.ids.map { $0.isOwn ? $0.id : "\($0.id) (alias)" }
        line("Known as \(ids.joined(separator: ", "))")
        for record in view.merged { line("Record \(record.id) was merged into it at \(record.at)") }
        for conflict in view.conflicts {
            line(
                "Not merged with record \(conflict.other), which is another person's, although "
                    + "webhooks name both (\(conflict.times) times, last at \(conflict.lastAt)); if they "
                    + "are one, journey-replay alias says so")
        }
        if !view.attributes.isEmpty { line("Attributes \(JSONValue.object(view.attributes).text)") }
        printState(view, line)
        for sentence in access?.sentences ?? [] { line(sentence) }
        if let aside = view.standing.setAside {
            let next = aside.retryAt.map { "tried again at \($0)" } ?? "tried no more"
            line("Set aside since \(aside.since), \(next): \(aside.error)")
        }
        if let oldest = view.standing.oldestUnread {
            line("\(counted(view.standing.unreadInputs, "input")) unread, the oldest of \(oldest)")
        }
        out.write(
            "\nRuns\n" + RunSummary.table(view.runs).text(.table, emphasis: terminal.usesColour))
        out.write("\nTimeline\n" + timeline.text(.table, emphasis: terminal.usesColour))
        if left > 0 {
            terminal.error.writeLine("\(counted(left, "older line")) left out; raise --limit.")
        }
    }

    /// What is known of the customer beside attributes and runs.
    private func printState(_ view: CustomerView, _ line: (String) -> Void) {
        for subscription in view.subscriptions {
            line(
                "Subscription \(subscription.connector)/\(subscription.key) "
                    + JSONValue.object(subscription.state).text)
        }
        if !view.segments.isEmpty {
            let segments = view.segments.map { "\($0.segment) since \($0.enteredAt)" }
            line("In \(segments.joined(separator: ", "))")
        }
        if !view.assignments.isEmpty {
            let variants = view.assignments.map { "\($0.experiment): \($0.variant)" }
            line("Experiments \(variants.joined(separator: ", "))")
        }
        for date in view.dates {
            line("\(date.workflow) starts at \(date.dueAt) by \(date.subject)")
        }
    }

    private func stateJSON(_ view: CustomerView) -> [(key: String, value: JSONValue)] {
        [
            (
                "subscriptions",
                .array(
                    view.subscriptions.map {
                        [
                            "connector": .string($0.connector), "key": .string($0.key),
                            "state": .object($0.state),
                            "changed_at": .string($0.changedAt.description),
                        ]
                    })
            ),
            (
                "segments",
                .array(
                    view.segments.map {
                        [
                            "id": .string($0.segment),
                            "entered_at": .string($0.enteredAt.description),
                        ]
                    })
            ),
            (
                "assignments",
                .array(
                    view.assignments.map {
                        [
                            "experiment": .string($0.experiment), "variant": .string($0.variant),
                            "assigned_at": .string($0.assignedAt.description),
                        ]
                    })
            ),
            (
                "dates",
                .array(
                    view.dates.map {
                        [
                            "workflow": .string($0.workflow.text), "subject": .string($0.subject),
                            "due_at": .string($0.dueAt.description),
                        ]
                    })
            ),
        ]
    }

    private func customerJSON(
        _ view: CustomerView, _ access: CustomerAccess?, _ timeline: Timeline, last count: Int
    ) -> JSONValue {
        var object = JSONObject(
            [
                ("id", .integer(view.id.number)), ("environment", .string(view.environment)),
                ("app", view.app.map { .string($0) } ?? .null),
                ("created_at", .string(view.createdAt.description)),
                (
                    "ids",
                    .array(
                        view.ids.map {
                            [
                                "id": .string($0.id), "own": .bool($0.isOwn),
                                "linked_at": .string($0.linkedAt.description),
                            ]
                        })
                ),
                (
                    "merged",
                    .array(
                        view.merged.map {
                            ["id": .integer($0.id.number), "at": .string($0.at.description)]
                        })
                ),
                (
                    "identity_conflicts",
                    .array(
                        view.conflicts.map {
                            [
                                "id": .integer($0.other.number), "times": .integer($0.times),
                                "last_at": .string($0.lastAt.description),
                            ]
                        })
                ),
                ("attributes", .object(view.attributes)),
            ] + stateJSON(view) + [
                ("features", access?.json ?? .null),
                ("unread_inputs", .integer(view.standing.unreadInputs)),
                ("runs", .array(view.runs.map(\.json))),
                ("timeline", .array(timeline.ordered.suffix(count).map(\.json))),
            ])
        if let aside = view.standing.setAside {
            object["set_aside"] = [
                "since": .string(aside.since.description), "attempts": .integer(aside.attempts),
                "error": .string(aside.error),
                "retry_at": aside.retryAt.map { .string($0.description) } ?? .null,
            ]
        }
        return .object(object)
    }
}

extension Timeline {
    /// How an effect stands: its end, or the attempts so far. Its request is a decision's line.
    mutating func add(_ effect: EffectView, workflow: String) {
        let made = "\(effect.status) after \(counted(effect.attempts, "attempt"))"
        addEffectEnd(
            effect.invocation.text, step: effect.step.text, run: effect.run.text,
            workflow: workflow, at: effect.endedAt ?? effect.dueAt ?? effect.requestedAt,
            status: made, reason: effect.reason)
    }
}

extension LookStore {
    /// The deliveries that became this event, or repeated it at the same instant. Asked by time, which
    /// is what deliveries are indexed by.
    func deliveries(of logged: LoggedEvent) async throws -> [DeliveryView] {
        guard logged.event.trust == .provider else { return [] }
        var filter = DeliveryFilter()
        filter.connector = logged.event.connector
        filter.providerEventID = logged.event.providerEventID
        filter.since = logged.event.receivedAt
        filter.until = logged.event.receivedAt + .milliseconds(1)
        return try await deliveries(filter)
    }
}
