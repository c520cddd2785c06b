internal import Postgres

extension DefinitionStore {
    static let lockingCatalogue = SQLStatement(
        "definition_lock",
        """
        select revision from journey.catalogue for update
        """)

    static let publishing = SQLStatement(
        "definition_publish",
        """
        with workflow as (
            insert into journey.workflows (id) values ($1) on conflict (id) do nothing
        ), added as (
            insert into journey.workflow_versions (
                workflow, version, digest, canonical, published_at, published_by, reason
            )
            select $1, 1 + coalesce(max(v.version), 0), $2, $3,
                date_trunc('milliseconds', clock_timestamp()), $4, $5
            from journey.workflow_versions v
            where v.workflow = $1
            having not exists (
                select from journey.workflow_versions v where v.workflow = $1 and v.digest = $2
            )
            returning version
        ), chosen as (
            select version, true as is_new from added
            union all
            select v.version, false
            from journey.workflow_versions v
            where v.workflow = $1 and v.digest = $2
        )
        select c.version, c.is_new,
            exists (
                select from journey.workflows w where w.id = $1 and w.live_version = c.version
            ) as was_live
        from chosen c
        """)

    static let publishingSegment = SQLStatement(
        "definition_publish_segment",
        """
        with segment as (
            insert into journey.segments (id) values ($1) on conflict (id) do nothing
        ), added as (
            insert into journey.segment_versions (
                segment, version, digest, canonical, published_at, published_by, reason
            )
            select $1, 1 + coalesce(max(v.version), 0), $2, $3,
                date_trunc('milliseconds', clock_timestamp()), $4, $5
            from journey.segment_versions v
            where v.segment = $1
            having not exists (
                select from journey.segment_versions v where v.segment = $1 and v.digest = $2
            )
            returning version
        ), chosen as (
            select version, true as is_new from added
            union all
            select v.version, false
            from journey.segment_versions v
            where v.segment = $1 and v.digest = $2
        )
        select c.version, c.is_new,
            exists (
                select from journey.segments s where s.id = $1 and s.live_version = c.version
            ) as was_live
        from chosen c
        """)

    static let readingSegments = SQLStatement(
        "definition_segments",
        """
        select s.id, v.version, v.digest, v.canonical, s.live_revision, s.live_since
        from journey.segments s
        join journey.segment_versions v on v.segment = s.id and v.version = s.live_version
        order by s.id
        """)

    static let goingLive = SQLStatement(
        "definition_go_live",
        """
        with live as (
            update journey.workflows w
            set live_version = l.version, live_revision = c.revision + 1,
                live_since = date_trunc('milliseconds', clock_timestamp())
            from unnest($1::text[], $2::integer[]) l (workflow, version)
            cross join journey.catalogue c
            where w.id = l.workflow
        ), live_segments as (
            update journey.segments s
            set live_version = l.version, live_revision = c.revision + 1,
                live_since = date_trunc('milliseconds', clock_timestamp())
            from unnest($3::text[], $4::integer[]) l (segment, version)
            cross join journey.catalogue c
            where s.id = l.segment
        ), walk as (
            insert into journey.walks (revision)
            select revision + 1 from journey.catalogue where $5
        )
        update journey.catalogue set revision = revision + 1
        """)

    static let auditing = SQLStatement(
        "definition_audit",
        """
        insert into journey.audit (who, verb, reason, detail)
        values ($1, 'publish', $2, json_build_object('versions', $3::text))
        """)

    static let readingRevision = SQLStatement(
        "definition_revision",
        """
        select revision from journey.catalogue
        """)

    static let readingLive = SQLStatement(
        "definition_live",
        """
        select v.workflow, v.version, v.digest, v.canonical, w.live_revision, w.live_since
        from journey.workflows w
        join journey.workflow_versions v on v.workflow = w.id and v.version = w.live_version
        order by v.workflow
        """)

    static let readingVersions = SQLStatement(
        "definition_versions",
        """
        select v.workflow, v.version, v.digest, v.canonical, 0::bigint as live_revision,
            null::timestamptz as live_since
        from unnest($1::text[], $2::integer[]) k (workflow, version)
        join journey.workflow_versions v on v.workflow = k.workflow and v.version = k.version
        order by v.workflow, v.version
        """)
}
