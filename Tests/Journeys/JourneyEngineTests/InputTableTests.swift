import JSON
import JourneyEngine
import JourneyModel
import Testing
import TimeZones
import WorkflowDefinitions

/// Every place a run can stand at, against every input it can be given.
@Suite struct InputTableTests {
    enum Place: CaseIterable { case delay, events, effect, ended, endedOpen }

    enum Given: CaseIterable {
        case eventTaken, eventUnknown, eventGoal, eventExit
        case result, resultOfAnother, timerEarly, timerDue, timerPastLimit, look
    }

    /// What comes of it: the status, and whether the input left a row.
    enum Becomes: Hashable {
        /// No outcome at all.
        case nothing
        /// Still waiting in the same place, with a row.
        case noted
        case goesOn
        case exits(String)
        /// Ended as before, and converted now.
        case converts
    }

    static let exits = ExitRule(cause: .event(EventMatch(names: ["left"])), reason: "left")

    func world(at place: Place) -> World {
        let first: Step =
            switch place {
            case .delay: .delay("x", days(2), next: .to("on"))
            case .events:
                .wait(
                    "x", [.on("paid", next: .to("on"))], timeout: .duration(days(2)),
                    onTimeout: .to("on"))
            case .effect: .action("x", next: .to("on"))
            case .ended, .endedOpen: .exit("x")
            }
        return World(
            makeWorkflow(
                [first, .delay("on", days(60))],
                goal: place == .ended ? nil : Goal(match: EventMatch(names: ["bought"])),
                exits: [Self.exits], limits: Limits(time: days(30))))
    }

    func give(_ given: Given, _ world: inout World) -> Engine.Outcome? {
        switch given {
        case .eventTaken: world.give("paid", at: after(hours(1)))
        case .eventUnknown: world.give("other", at: after(hours(1)))
        case .eventGoal: world.give("bought", at: after(hours(1)))
        case .eventExit: world.give("left", at: after(hours(1)))
        case .result: world.answer(.succeeded([:]), at: after(hours(1)))
        case .resultOfAnother:
            world.answer(.succeeded([:]), at: after(hours(1)), invocation: InvocationID("other"))
        case .timerEarly: world.fire(at: after(hours(1)))
        case .timerDue: world.fire(at: after(days(2)))
        case .timerPastLimit: world.fire(at: after(days(30)))
        case .look: world.look(at: after(days(2)))
        }
    }

    func expected(_ place: Place, _ given: Given) -> Becomes {
        switch (place, given) {
        case (.ended, .result), (.ended, .resultOfAnother): .noted
        case (.endedOpen, .result), (.endedOpen, .resultOfAnother): .noted
        case (.ended, _): .nothing
        case (.endedOpen, .eventGoal): .converts
        case (.endedOpen, _): .nothing
        case (_, .eventGoal): .exits("converted")
        case (_, .eventExit): .exits("left")
        case (_, .timerPastLimit): .exits("time_limit")
        case (_, .eventUnknown), (_, .timerEarly), (_, .look): .nothing
        case (.events, .eventTaken): .goesOn
        case (.delay, .eventTaken), (.effect, .eventTaken): .nothing
        case (.effect, .result): .goesOn
        case (.delay, .result), (.events, .result), (_, .resultOfAnother): .noted
        case (.effect, .timerDue): .nothing
        case (.delay, .timerDue), (.events, .timerDue): .goesOn
        }
    }

    func became(_ outcome: Engine.Outcome?, from before: Run) -> Becomes {
        guard let outcome else { return .nothing }
        if !before.status.isLive { return outcome.converted ? .converts : .noted }
        if case .exited(let reason) = outcome.run.status { return .exits(reason) }
        return outcome.run.position == before.position ? .noted : .goesOn
    }

    @Test func `every place takes every input as the table says`() {
        for place in Place.allCases {
            for given in Given.allCases {
                var world = world(at: place)
                let before = world.run
                let outcome = give(given, &world)
                #expect(
                    became(outcome, from: before) == expected(place, given), "\(place) \(given)")
                #expect(world.run.decisions == before.decisions + (outcome == nil ? 0 : 1))
            }
        }
    }

    @Test func `a result for a run that does not wait for it is recorded as stale`() {
        for place in [Place.delay, .events] {
            var world = world(at: place)
            let outcome = give(.result, &world)
            #expect(outcome?.entries.map(\.kind) == [.input, .stale])
        }
    }

    // S21.1
    @Test func `every stored status can be read back from its word and reason`() {
        let all: [RunStatus] = [
            .waiting, .completed, .exited(reason: "a"), .failed(error: "b"),
            .cancelled(reason: "c"), .superseded(reason: "d"),
        ]
        for status in all {
            #expect(RunStatus(word: status.word, reason: status.reason) == status)
            #expect(status.isLive == (status == .waiting))
        }
        #expect(RunStatus(word: "gone", reason: nil) == nil)
    }
}
