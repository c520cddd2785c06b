internal import JSON
internal import JourneyEngine
internal import JourneyModel
internal import JourneyTurns
internal import Postgres
package import TimeZones

extension LookStore {
    /// The customer that an external id stands for; nil when it stands for none.
    package func customer(
        _ externalID: String, environment: String = "production", app: String? = nil
    ) async throws -> CustomerView? {
        try await look { tx in
            guard let number = try await Self.customer(externalID, environment, app, tx) else {
                return nil
            }
            let id = PostgresValue.int8(number)
            let tail = Self.limit(Self.tailLimit)
            let none = PostgresValue.null
            let answers = try await tx.pipeline([
                (Self.showingCustomer, [id]), (Self.listingIDs, [id]),
                (
                    Self.listingRuns,
                    [id] + Array(repeating: none, count: 13) + [tail]
                ),
                (Self.listingEvents, [id, none, none, none, none, tail]), (Self.standing, [id]),
                (Self.listingSubscriptions, [id]), (Self.listingSegments, [id]),
                (Self.listingAssignments, [id]), (Self.listingDates, [id]),
                (Self.listingMerged, [id]), (Self.listingConflicts, [id]),
            ])
            let row = try answers[0].only()
            return CustomerView(
                id: CustomerID(number), environment: try row.string("environment"),
                app: try row.stringOrNil("app"), createdAt: try row.instant("created_at"),
                attributes: try readObject(
                    try row.json("attributes"), "attributes of customer \(number)"),
                subscriptions: try answers[5].map { try Self.readSubscription($0) },
                segments: try answers[6].map { row in
                    CustomerView.Membership(
                        segment: try row.string("segment"),
                        enteredAt: try row.instant("entered_at"))
                },
                assignments: try answers[7].map { row in
                    CustomerView.Assignment(
                        experiment: try row.string("experiment"),
                        variant: try row.string("variant"),
                        assignedAt: try row.instant("assigned_at"))
                },
                dates: try answers[8].map { row in
                    CustomerView.PendingDate(
                        workflow: WorkflowID(try row.string("workflow")),
                        subject: try row.string("subject"), dueAt: try row.instant("due_at"))
                },
                inputsTaken: try row.int64("inputs_taken"),
                ids: try answers[1].map { row in
                    CustomerView.ExternalID(
                        id: try row.string("external_id"), isOwn: try row.bool("is_own"),
                        linkedAt: try row.instant("linked_at"))
                },
                merged: try answers[9].map { row in
                    CustomerView.Merged(
                        id: CustomerID(try row.int64("merged")), at: try row.instant("at"))
                },
                conflicts: try answers[10].map { row in
                    CustomerView.Conflict(
                        other: CustomerID(try row.int64("other")), times: try row.int64("times"),
                        lastAt: try row.instant("last_at"))
                },
                runs: try answers[2].map(Self.readSummary),
                events: try answers[3].map { try Self.readLogged($0) },
                standing: try Self.readStanding(try answers[4].only()))
        }
    }

    /// Events, the newest recorded first.
    package func events(_ filter: EventFilter) async throws -> [EventView] {
        try await look { tx in
            var customer: Int64?
            if let id = filter.customer {
                customer = try await Self.customer(id, filter.environment, filter.app, tx)
                if customer == nil { return [] }
            }
            let rows = try await tx.query(
                Self.listingEvents,
                [
                    .optional(customer), .optional(filter.name), .optional(filter.connector),
                    .optional(filter.since), .optional(filter.until), Self.limit(filter.limit),
                ])
            return try rows.map { row in
                EventView(
                    customer: CustomerID(try row.int64("customer")),
                    logged: try Self.readLogged(row))
            }
        }
    }

    /// Deliveries, newest first.
    package func deliveries(_ filter: DeliveryFilter) async throws -> [DeliveryView] {
        try await look { tx in
            let rows = try await tx.query(
                Self.listingDeliveries,
                [
                    .optional(filter.connector), .optional(filter.state),
                    .optional(filter.providerEventID), .optional(filter.since),
                    .optional(filter.until), Self.limit(filter.limit),
                ])
            return try rows.map(Self.readDelivery)
        }
    }

    /// One delivery with its raw body; the body is nil once its retention has passed.
    package func delivery(_ id: Int64) async throws -> (view: DeliveryView, body: [UInt8]?)? {
        try await look { tx in
            guard let row = try await tx.query(Self.showingDelivery, [.int8(id)]).first else {
                return nil
            }
            return (try Self.readDelivery(row), try row.bytesOrNil("body"))
        }
    }

    /// Connectors that ever delivered, with when they last did.
    package func activities() async throws -> [ConnectorActivityStore.Activity] {
        try await look { tx in
            try ConnectorActivityStore.activities(
                try await tx.query(ConnectorActivityStore.reading, []))
        }
    }

    /// Deliveries by connector and state, the largest sum first.
    package func deliveryCounts(_ filter: DeliveryFilter) async throws -> [DeliveryCount] {
        try await look { tx in
            let rows = try await tx.query(
                Self.countingDeliveries,
                [
                    .optional(filter.connector), .optional(filter.state), .optional(filter.since),
                    .optional(filter.until),
                ])
            return try rows.map { row in
                DeliveryCount(
                    connector: try row.string("connector"), state: try row.string("state"),
                    count: try row.int64("count"))
            }
        }
    }

    /// What was counted between two times, summed by name, workflow and cause.
    package func counts(since: Instant, until: Instant) async throws -> [CountView] {
        try await look { tx in
            let rows = try await tx.query(
                Self.summingCounts, [.timestamptz(since), .timestamptz(until)])
            return try rows.map { row in
                CountView(
                    name: try row.string("name"), workflow: try row.stringOrNil("workflow"),
                    cause: try row.string("cause"), amount: try row.int64("amount"))
            }
        }
    }

    private static func readSubscription(
        _ row: PostgresRow
    ) throws -> CustomerView.Subscription {
        let id = SubscriptionID(
            connector: try row.string("connector"), key: try row.string("subscription_key"))
        let object = try readObject(try row.json("state"), "subscription \(id)")
        let state = try readForm("subscription \(id)") { () throws(StoredFormError) in
            try SubscriptionState(id: id, json: object)
        }
        return CustomerView.Subscription(
            connector: id.connector, key: id.key, state: state.scope,
            changedAt: try row.instant("changed_at"))
    }

    static func readLogged(_ row: PostgresRow) throws -> LoggedEvent {
        LoggedEvent(
            ordinal: try row.int64("ordinal"), recordedAt: try row.instant("recorded_at"),
            event: try readEvent(try row.json("event")))
    }

    static func readDelivery(_ row: PostgresRow) throws(PostgresError) -> DeliveryView {
        DeliveryView(
            id: try row.int64("id"), connector: try row.string("connector"),
            providerEventID: try row.string("provider_event_id"),
            receivedAt: try row.instant("received_at"),
            environment: try row.string("environment"), app: try row.stringOrNil("app"),
            bodyBytes: Int(try row.int32("body_bytes")), state: try row.stringOrNil("state"),
            reason: try row.stringOrNil("reason"),
            event: try row.stringOrNil("event").map { EventID($0) })
    }
}
