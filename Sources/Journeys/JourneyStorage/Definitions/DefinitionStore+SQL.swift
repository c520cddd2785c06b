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

    static let goingLive = SQLStatement(
        "definition_go_live",
        """
        with live as (
            update journey.workflows w
            set live_version = l.version
            from unnest($1::text[], $2::integer[]) l (workflow, version)
            where w.id = l.workflow
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
        select v.workflow, v.version, v.digest, v.canonical
        from journey.workflows w
        join journey.workflow_versions v on v.workflow = w.id and v.version = w.live_version
        order by v.workflow
        """)

    static let readingVersions = SQLStatement(
        "definition_versions",
        """
        select v.workflow, v.version, v.digest, v.canonical
        from unnest($1::text[], $2::integer[]) k (workflow, version)
        join journey.workflow_versions v on v.workflow = k.workflow and v.version = k.version
        order by v.workflow, v.version
        """)
}
