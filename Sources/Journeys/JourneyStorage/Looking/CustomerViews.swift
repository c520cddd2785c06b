package import JSON
package import JourneyEngine
package import JourneyModel
package import TimeZones

/// A customer's record with what hangs on it.
package struct CustomerView: Sendable, Hashable {
    /// One id that stands for the record.
    package struct ExternalID: Sendable, Hashable {
        package var id: String
        /// It came as the person's own id, not as an alias or made up by a provider.
        package var isOwn: Bool
        package var linkedAt: Instant
    }

    /// One subscription as `/subscription` shows it.
    package struct Subscription: Sendable, Hashable {
        package var connector: String
        package var key: String
        package var state: JSONObject
        package var changedAt: Instant
    }

    /// A place in a segment.
    package struct Membership: Sendable, Hashable {
        package var segment: String
        package var enteredAt: Instant
    }

    /// A variant that was given for ever.
    package struct Assignment: Sendable, Hashable {
        package var experiment: String
        package var variant: String
        package var assignedAt: Instant
    }

    /// A record that was merged into this one.
    package struct Merged: Sendable, Hashable {
        package var id: CustomerID
        package var at: Instant
    }

    /// Another identified record that webhooks name together with this one.
    package struct Conflict: Sendable, Hashable {
        package var other: CustomerID
        package var times: Int64
        package var lastAt: Instant
    }

    /// A date that is to start a run.
    package struct PendingDate: Sendable, Hashable {
        package var workflow: WorkflowID
        package var subject: String
        package var dueAt: Instant
    }

    package var id: CustomerID
    package var environment: String
    package var app: String?
    package var createdAt: Instant
    package var attributes: JSONObject
    /// What providers said of each subscription, in the order of connector and key.
    package var subscriptions: [Subscription]
    /// Segments that the customer is in, in the order of their ids.
    package var segments: [Membership]
    /// Variants of experiments, in the order of their ids.
    package var assignments: [Assignment]
    /// Dates that wait to start a run, the next one first.
    package var dates: [PendingDate]
    package var inputsTaken: Int64
    package var ids: [ExternalID]
    /// Records that were merged into this one, the last one last.
    package var merged: [Merged]
    /// Identified records that it was not merged with, the last told first.
    package var conflicts: [Conflict]
    /// Newest first, at most ``LookStore/tailLimit``.
    package var runs: [RunSummary]
    /// Newest first, at most ``LookStore/tailLimit``.
    package var events: [LoggedEvent]
    package var standing: CustomerStanding
}

/// Which deliveries to list.
package struct DeliveryFilter: Sendable, Hashable {
    package var connector: String?
    /// A state's word, `unread` for those that no turn has looked at, or `unknown` or `ignored` for processed
    /// ones that became `connector.unknown` or `connector.ignored`.
    package var state: String?
    /// The provider's event id.
    package var providerEventID: String?
    package var since: Instant?
    package var until: Instant?
    /// 1 to 1,000.
    package var limit = 50

    package init() {}
}

/// One delivery as stored, without its body.
package struct DeliveryView: Sendable, Hashable {
    package var id: Int64
    package var connector: String
    package var providerEventID: String
    package var receivedAt: Instant
    package var environment: String
    package var app: String?
    package var bodyBytes: Int
    /// Nil until a turn looked at it.
    package var state: String?
    package var reason: String?
    /// The event that it became, or repeats.
    package var event: EventID?
}

/// How many deliveries of a connector are in a state.
package struct DeliveryCount: Sendable, Hashable {
    package var connector: String
    /// As ``DeliveryFilter/state``.
    package var state: String
    package var count: Int64
}

/// Which events to list.
package struct EventFilter: Sendable, Hashable {
    /// An external id; with ``environment`` and ``app`` it names one customer.
    package var customer: String?
    package var environment = "production"
    package var app: String?
    package var name: String?
    package var connector: String?
    package var since: Instant?
    package var until: Instant?
    /// 1 to 1,000.
    package var limit = 50

    package init() {}
}

/// An event with whose it is.
package struct EventView: Sendable, Hashable {
    package var customer: CustomerID
    package var logged: LoggedEvent
}

/// Which effects to list.
package struct EffectFilter: Sendable, Hashable {
    package var run: RunID?
    /// The beginning of invocation ids, in lower-case hex.
    package var prefix: String?
    package var status: String?
    package var tool: String?
    package var account: String?
    /// Requested at or after, and before.
    package var since: Instant?
    package var until: Instant?
    /// 1 to 1,000.
    package var limit = 50

    package init() {}
}

/// One sum of the counts by cause (S20).
package struct CountView: Sendable, Hashable {
    package var name: String
    package var workflow: String?
    package var cause: String
    package var amount: Int64
}
