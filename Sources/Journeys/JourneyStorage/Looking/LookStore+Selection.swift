package import JSON
package import JourneyEngine
package import JourneyModel
internal import JourneyTurns
internal import Postgres
package import TimeZones

/// A customer with what a selection or a segment may be decided by.
package struct CustomerFacts: Sendable, Hashable {
    package var customer: CustomerID
    /// An id they are known by, their own before aliases; nil for a record without one.
    package var externalID: String?
    package var attributes: JSONObject
    /// What `/subscription` shows, for each.
    package var subscriptions: [SubscriptionID: JSONObject]
    /// Since when they are in each segment they are in.
    package var segments: [SegmentID: Instant]
}

/// Customers in the order of their numbers, a page at a time: however many there are, a look stays short.
extension LookStore {
    /// Customers that one page passes.
    package static let pageLimit = 500

    /// The next customers after one, those that were merged away left out.
    ///
    /// - Parameters:
    ///   - environment: nil for all environments and apps.
    ///   - segment: only its members; nil for everybody.
    /// - Returns: the page, and after whom to go on; nil for the last page.
    package func customers(
        after last: CustomerID?, environment: String? = nil, app: String? = nil,
        segment: SegmentID? = nil
    ) async throws -> (page: [CustomerFacts], next: CustomerID?) {
        try await look { tx in
            let rows = try await tx.query(
                Self.pagingCustomers,
                [
                    .optional(environment.map(storable)), .optional(app.map(storable)),
                    .int8(last?.number ?? 0), .optional(segment?.text), Self.limit(Self.pageLimit),
                ])
            var page: [CustomerFacts] = []
            var end: CustomerID?
            var passed = 0
            for row in rows {
                passed += 1
                end = CustomerID(try row.int64("id"))
                if try row.bool("is_chosen") { page.append(try Self.readFacts(row)) }
            }
            return (page, passed < Self.pageLimit ? nil : end)
        }
    }

    private static func readFacts(_ row: PostgresRow) throws -> CustomerFacts {
        let number = try row.int64("id")
        let what = "customer \(number)"
        var subscriptions: [SubscriptionID: JSONObject] = [:]
        if let bytes = try row.jsonOrNil("subscriptions") {
            for item in try readObject(bytes, what)["all"]?.array ?? [] {
                guard let connector = item["connector"]?.string, let key = item["key"]?.string,
                    let object = item["state"]?.object
                else { continue }
                let id = SubscriptionID(connector: connector, key: key)
                let state = try readForm(what) { () throws(StoredFormError) in
                    try SubscriptionState(id: id, json: object)
                }
                subscriptions[id] = state.scope
            }
        }
        var segments: [SegmentID: Instant] = [:]
        if let bytes = try row.jsonOrNil("segments") {
            for (id, since) in try readObject(bytes, what) {
                segments[SegmentID(id)] = since.integer.map { Instant(milliseconds: $0) }
            }
        }
        return CustomerFacts(
            customer: CustomerID(number), externalID: try row.stringOrNil("external_id"),
            attributes: try readObject(try row.json("attributes"), what),
            subscriptions: subscriptions, segments: segments)
    }

    private static let pagingCustomers = SQLStatement(
        "look_customer_page",
        """
        with page as materialized (
            (
                select c.id from journey.customers c
                where $4::text is null and c.id > $3
                order by c.id
                limit $5
            )
            union all
            (
                select m.customer from journey.segment_members m
                where m.segment = $4 and m.customer > $3
                order by m.customer
                limit $5
            )
        )
        select p.id, c.id is not null as is_chosen, c.attributes,
            (
                select i.external_id from journey.customer_ids i
                where i.customer = c.id
                order by i.is_own desc, i.linked_at, i.external_id
                limit 1
            ) as external_id,
            (
                select json_build_object('all', json_agg(json_build_object(
                    'connector', s.connector, 'key', s.subscription_key, 'state', s.state)))
                from journey.subscriptions s
                where s.customer = c.id
                having count(*) > 0
            ) as subscriptions,
            (
                select json_object_agg(
                    m.segment, (extract(epoch from m.entered_at) * 1000)::bigint)
                from journey.segment_members m
                where m.customer = c.id
                having count(*) > 0
            ) as segments
        from page p
        left join journey.customers c
            on c.id = p.id and c.forwards_to is null
                and ($1::text is null
                    or c.environment = $1 and c.app is not distinct from $2::text)
        order by p.id
        """)
}
