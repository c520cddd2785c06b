import Postgres
import TestSupport
import Testing

@testable import JourneyStorage

@Suite(.timeLimit(.minutes(2)))
struct SchemaTests {
    @Test func `migrating twice changes nothing the second time`() async throws {
        try await World.with { world in
            let again = try await JourneySchema.migrator.up(world.settings, on: world.loop)
            #expect(again.isEmpty)
            let status = try await JourneySchema.migrator.status(world.settings, on: world.loop)
            #expect(status.isCurrent)
        }
    }

    @Test func `partitions are made ahead, once each`() async throws {
        try await World.with { world in
            // The migration made this month and three more for five tables.
            let before = try await world.number(
                "select count(*) from pg_inherits where inhparent in "
                    + "('journey.deliveries'::regclass, 'journey.history'::regclass)")
            #expect(before == 10)
            #expect(try await JourneySchema.ensurePartitions(monthsAhead: 3, world.pool) == 0)
            #expect(try await JourneySchema.ensurePartitions(monthsAhead: 5, world.pool) == 10)
        }
    }

    @Test func `a row outside the made months is kept and moves when its month is made`()
        async throws
    {
        try await World.with { world in
            try await world.run(
                """
                insert into journey.history (customer, run, decision, at, entries)
                values (1, 'r', 0, now() + interval '4 months', '{}')
                """)
            #expect(try await world.count("history_rest") == 1)
            #expect(try await JourneySchema.ensurePartitions(monthsAhead: 6, world.pool) == 15)
            #expect(try await world.count("history_rest") == 0)
            #expect(try await world.count("history") == 1)
        }
    }

    @Test func `a table whose partitions cannot be made does not keep the others from theirs`()
        async throws
    {
        try await World.with { world in
            try await world.run("insert into journey.partitioned values ('nonesuch', 'at')")
            #expect(try await JourneySchema.ensurePartitions(monthsAhead: 4, world.pool) == 5)
        }
    }

    @Test func `a locked table is left alone, whatever the session's time limit`() async throws {
        try await World.with { world in
            var settings = world.settings
            settings.statementTimeout = .seconds(1)
            let pool = PostgresPool(settings: settings, size: 1, loop: world.loop)
            let made = try await world.pool.withTransaction { tx in
                let lock = SQLStatement(
                    "lock", "lock table journey.history_rest in access share mode")
                _ = try await tx.query(lock, [])
                return try await JourneySchema.ensurePartitions(monthsAhead: 4, pool)
            }
            await pool.close()
            #expect(made == 4)
            #expect(try await JourneySchema.ensurePartitions(monthsAhead: 4, world.pool) == 1)
        }
    }

    @Test func `every statement fits the schema`() async throws {
        try await World.with { world in
            for statement in Self.statements {
                do {
                    try await world.run("prepare one as " + statement.sql)
                } catch {
                    Issue.record("\(statement.name): \(error)")
                }
            }
        }
    }

    @Test func `no two statements share a name`() {
        let names = Self.statements.map(\.name)
        #expect(Set(names).count == names.count)
    }

    private static let statements: [SQLStatement] = [
        DeliveryStore.storing, RoutingStore.electing, RoutingStore.claiming, RoutingStore.looking,
        RoutingStore.making, RoutingStore.linking, RoutingStore.raising, RoutingStore.assigning,
        RoutingStore.settingAside, RoutingStore.counting, RoutingStore.holding,
        MergeStore.identifying, MergeStore.endingRivals, MergeStore.movingRuns,
        MergeStore.movingHistory, MergeStore.movingEventIDs, MergeStore.movingEvents,
        MergeStore.movingEffects, MergeStore.movingQueue, MergeStore.movingAttempts,
        MergeStore.movingInputs, MergeStore.movingValues, MergeStore.movingIDs,
        MergeStore.droppingState, MergeStore.forwarding, MergeStore.logging,
        LookStore.listingMerged, LookStore.listingConflicts, CommandStore.aliasing,
        MergeStore.puttingOff, MergeStore.movingTransfers, RoutingStore.readingBodies,
        RoutingStore.findingOwners, RoutingStore.rechecking, TurnStore.droppingSubscriptions,
        TurnStore.releasingUnassigned, TurnStore.tellingTransfers, TurnStore.givingTransfers,
        TurnStore.givingAgain, TransferStore.listingDue, TransferStore.reading,
        TransferStore.settling, TransferStore.puttingOff, EffectStore.followingForwards,
        TurnStore.claiming,
        TurnStore.claimingThese, TurnStore.readingRevision, TurnStore.loadingCustomers,
        TurnStore.loadingInputs, TurnStore.loadingRuns, TurnStore.loadingEntries,
        RetentionStore.dropping, RetentionStore.readingHorizon,
        RetentionStore.deletingEffects, RetentionStore.deletingDeliveryIDs,
        RetentionStore.deletingEventIDs, BatchStore.counting, BatchStore.listing, BatchStore.paging,
        BatchStore.creating,
        BatchStore.reading, BatchStore.readingRunning, BatchStore.readingFindings,
        BatchStore.readingStarted, BatchStore.countingUndecided, BatchStore.steering,
        BatchStore.locking, BatchStore.moving, BatchStore.halting, BatchStore.telling,
        BatchStore.offering, TurnStore.loadingSubscribed, TurnStore.placingRevisions,
        TurnStore.loadingLog, TurnStore.loadingEarlier, TurnStore.loadingSubscriptions,
        TurnStore.loadingSegments, TurnStore.loadingAssignments, TurnStore.loadingDates,
        TurnStore.loadingDateCauses, TurnStore.loadingHistory, TurnStore.loadingIDs,
        TurnStore.loadingValues, TurnStore.enteringSegments, TurnStore.leavingSegments,
        TurnStore.writingAssignments, TurnStore.writingDates, TurnStore.droppingDates,
        TurnStore.claimingValues, TurnStore.insertingInputs, LeaseStore.taking,
        LeaseStore.releasing, ScheduleStore.readingTime, ScheduleStore.readingLatest,
        ScheduleStore.readingWalking, ScheduleStore.inserting, ScheduleStore.walking,
        ScheduleStore.walkingPublished, StartStore.starting, FeatureWakeStore.waking,
        DefinitionStore.publishingSegment, DefinitionStore.readingSegments,
        TurnStore.loadingResultRuns, TurnStore.loadingBodies, TurnStore.writingSubscriptions,
        TurnStore.loadingCauses, TurnStore.takingInputs, TurnStore.updatingCustomers,
        TurnStore.updatingRuns, TurnStore.insertingRuns, TurnStore.insertingEffects,
        TurnStore.withdrawingEffects, TurnStore.insertingEvents, TurnStore.markingDeliveries,
        TurnStore.insertingHistory, TurnStore.insertingCounts, TurnStore.droppingTimers,
        TurnStore.settingTimers, TurnStore.forwardingInputs, TurnStore.droppingForwardedTimers,
        TurnStore.clearingSetAside, TurnStore.settingAside, EffectStore.locking,
        EffectStore.lockingOverdue,
        EffectStore.lockingAccounts, EffectStore.countingLeases, EffectStore.makingAccounts,
        TurnStore.requeuingEffects, TurnStore.insertingOutcomes,
        CommandStore.auditing, CommandStore.issuing, CommandStore.readingOutcomes,
        CommandStore.discarding, CommandStore.freeing, LookStore.listingDead,
        LookStore.listingStuck, LookStore.countingHolding, LookStore.listingAttempts,
        BacklogStore.countingAccounts, EffectStore.leasing, EffectStore.finishing,
        EffectStore.handingBack,
        DefinitionStore.lockingCatalogue, DefinitionStore.publishing, DefinitionStore.goingLive,
        DefinitionStore.auditing, DefinitionStore.readingRevision, DefinitionStore.readingLive,
        DefinitionStore.readingVersions, LookStore.findingCustomer, LookStore.listingRuns,
        LookStore.listingRunsByPrefix, LookStore.showingRun, LookStore.standing,
        LookStore.readingHistory,
        LookStore.listingEffects, LookStore.showingCustomer, LookStore.listingIDs,
        LookStore.listingSubscriptions, LookStore.listingSegments, LookStore.listingAssignments,
        LookStore.listingDates, LookStore.listingEvents, LookStore.listingDeliveries,
        LookStore.showingDelivery,
        LookStore.summingCounts, BacklogStore.countingInbox, BacklogStore.countingTimers,
        BacklogStore.countingEffects, BacklogStore.countingAside,
    ]
}
