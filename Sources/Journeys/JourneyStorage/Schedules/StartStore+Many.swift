internal import JSON
internal import JourneyEngine
package import JourneyModel
package import JourneyTurns
internal import Postgres

// One wish for many customers: each page is a transaction of its own, and the same cause starts nobody twice.
extension StartStore {
    /// What became of a page.
    package struct Page: Sendable, Hashable {
        /// Inputs that were put in.
        package var queued = 0
        /// Whose live run is in the way.
        package var live = 0
        /// Who was asked under this cause before: a run of theirs bears it, or the wish is still unread.
        package var before = 0
        /// Who has no subscription to start a run for.
        package var without = 0

        package init() {}

        /// Adds up what another page came to.
        package mutating func add(_ page: Page) {
            queued += page.queued
            live += page.live
            before += page.before
            without += page.without
        }
    }

    /// Writes down who asks and why, before the first page.
    ///
    /// - Returns: the audit's number.
    package func record(_ request: CommandStore.Request) async throws -> Int64 {
        try await pool.query(
            CommandStore.auditing,
            [
                .text(storable(request.who)), .text(storable(request.verb)),
                .text(storable(request.reason)), .text(JSONValue.object(request.detail).text),
            ]
        ).only().int64("id")
    }

    /// Asks for a run of each of these customers.
    ///
    /// - Parameters:
    ///   - customers: at most ``LookStore/pageLimit``; who was merged away meanwhile is asked as they
    ///     are now.
    ///   - start: its cause is the batch's id.
    ///   - perSubscription: whether each subscription of a customer has a run of its own, with its key.
    ///   - allowsAnother: whether a live run with the same key is no reason to leave a customer out.
    package func start(
        _ customers: [CustomerID], _ start: StartInput, perSubscription: Bool, allowsAnother: Bool
    ) async throws -> Page {
        precondition(customers.count <= LookStore.pageLimit, "a page of \(customers.count)")
        let row = try await pool.query(
            Self.startingMany,
            [
                .int8Array(customers.map(\.number)), .text(start.request.workflow.text),
                .optional(start.request.key.map(storable)), .text(storable(start.request.cause)),
                .bool(perSubscription), .bool(start.supersedes),
                .bool(allowsAnother || start.supersedes),
            ]
        ).only()
        var page = Page()
        page.queued = Int(try row.int64("queued"))
        page.live = Int(try row.int64("live"))
        page.before = Int(try row.int64("before"))
        page.without = Int(try row.int64("without"))
        return page
    }

    /// A subscription's cause names it: one batch starts a run for each.
    static let startingMany = SQLStatement(
        "start_many",
        """
        with chosen as materialized (
            select distinct c.id, c.environment, c.app
            from unnest($1::bigint[]) n (id)
            join journey.customers o on o.id = n.id
            join journey.customers c on c.id = coalesce(o.forwards_to, o.id)
        ), named as materialized (
            select c.*, s.connector, s.subscription_key,
                coalesce(s.subscription_key, $3::text) as key,
                case
                    when $5 then $4::text || ':' || s.connector || '/' || s.subscription_key
                    else $4
                end as cause
            from chosen c
            left join journey.subscriptions s on $5 and s.customer = c.id
            where not $5 or s.customer is not null
        ), asked as materialized (
            select n.*,
                exists (
                    select from journey.runs r
                    where r.customer = n.id and r.cause = n.cause and r.workflow = $2::text
                        and r.rerun = 0
                ) or exists (
                    select from journey.inbox i
                    where i.customer = n.id and i.kind = 'start'
                        and i.payload ->> 'cause' = n.cause and i.payload ->> 'workflow' = $2
                ) as is_before,
                exists (
                    select from journey.runs r
                    where r.customer = n.id and r.workflow = $2
                        and coalesce(r.key, '') = coalesce(n.key, '') and r.ended_at is null
                        and not $7
                ) as is_live
            from named n
        ), queued as (
            insert into journey.inbox (customer, kind, payload, environment, app, routed_at)
            select a.id, 'start',
                json_build_object(
                    'workflow', $2, 'key', a.key, 'cause', a.cause, 'depth', 0,
                    'supersedes', $6::boolean, 'subscription',
                    case when $5 then
                        json_build_object('connector', a.connector, 'key', a.subscription_key)
                    end),
                a.environment, a.app, date_trunc('milliseconds', clock_timestamp())
            from asked a
            where not a.is_before and not a.is_live
            order by a.id, a.cause
            returning 1
        )
        select (select count(*) from queued) as queued,
            count(*) filter (where is_live and not is_before) as live,
            count(*) filter (where is_before) as before,
            (select count(*) from chosen c where not exists (
                select from named n where n.id = c.id)) as without
        from asked
        """)
}
