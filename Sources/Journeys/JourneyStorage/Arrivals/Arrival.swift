package import JSON
package import JourneyModel
package import TimeZones

/// One authenticated webhook, or one event of the app's own, as ingest hands it in to be stored.
package struct ArrivedDelivery: Sendable {
    /// What is stored of it.
    package enum Content: Sendable {
        /// A webhook's raw bytes, mapped later by a turn, with their SHA-256 (32 bytes).
        case body([UInt8], digest: [UInt8])
        /// An event that needs no mapping. A repeat of its id is a duplicate, whatever it says.
        case event(Event)
    }

    /// The connector's or source's name; with ``providerEventID`` it is what duplicates are known by.
    package var connector: String
    package var providerEventID: String
    package var content: Content
    package var environment: String
    package var app: String?
    /// Whose it is, as far as the request said.
    package var person: Event.Person
    /// The provider's time, when the request's pointers found it; lets a turn look for later events.
    package var occurredAt: Instant?
    /// The headers that a signature over the body stands in, by name in lower case; nil for none. Kept with
    /// the body, so that it can be checked again; never a credential.
    package var signatureHeaders: JSONObject?

    package init(
        connector: String, providerEventID: String, content: Content, environment: String,
        app: String? = nil, person: Event.Person, occurredAt: Instant? = nil,
        signatureHeaders: JSONObject? = nil
    ) {
        self.connector = connector
        self.providerEventID = providerEventID
        self.content = content
        self.environment = environment
        self.app = app
        self.person = person
        self.occurredAt = occurredAt
        self.signatureHeaders = signatureHeaders
    }
}

/// What became of one ``ArrivedDelivery``; it holds once the statement that stored it has committed.
package struct DeliveryReceipt: Sendable, Hashable {
    /// Whether anything new was stored.
    package enum Result: String, Sendable, Hashable {
        case accepted
        /// The id was seen before. With the same body nothing more was stored; another body was, for a
        /// turn to compare.
        case duplicate
    }

    /// The delivery's number; of the first one, for a duplicate.
    package var delivery: Int64
    package var result: Result

    package init(delivery: Int64, result: Result) {
        self.delivery = delivery
        self.result = result
    }
}
