import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import TestModel

// What must hold once everything has come to rest.
extension SimulatedWorld {
    mutating func judge() {
        for (row, count) in taken.sorted(by: { $0.key < $1.key }) where count != 1 {
            fail("input \(row) was taken by \(count) turns")
        }
        for id in promised.sorted() where !(firstBodies[id]??.isEmpty == false) {
            fail("\(id) was answered 200 and is not stored")
        }
        for model in models.values {
            for run in model.runs.values where run.status.isLive {
                fail("run \(run.id) of \(run.workflow) did not end")
            }
            judgeEffects(of: model)
        }
        judgeCalls()
        if seed % 8 == 0 { judgeAgain() }
    }

    private mutating func judgeEffects(of model: CustomerModel) {
        var places: Set<String> = []
        for request in model.requests.values {
            if !places.insert("\(request.run) \(request.step) \(request.attemptGroup)").inserted {
                fail("a visit of \(request.step) in \(request.run) has two invocation ids")
            }
            let count = endings[request.invocation] ?? 0
            let isWithdrawn = withdrawn.contains(request.invocation)
            if count > 1 || count == 0 && !isWithdrawn || count == 1 && isWithdrawn {
                fail(
                    "effect \(request.invocation) woke its run \(count) times"
                        + (isWithdrawn ? " and was withdrawn" : ""))
            }
        }
    }

    private mutating func judgeCalls() {
        for (invocation, calls) in calls.sorted(by: { $0.key < $1.key })
        where calls.first?.account == "once" {
            for call in calls.dropLast() where call.behaviour != .failed {
                fail("\(invocation) was called again after it \(call.behaviour)")
            }
        }
    }

    /// The same turns one after the other, with nobody beside them, give the same runs.
    private mutating func judgeAgain() {
        var again: [CustomerID: CustomerModel] = [:]
        var known: [EventID: Event] = [:]
        for row in journal {
            guard
                var model = again[row.customer]
                    ?? models[row.customer].map({ model in
                        var record = model.record
                        record.attributes = JSONObject()
                        record.setters = [:]
                        record.inputsTaken = 0
                        return CustomerModel(record)
                    })
            else { continue }
            let turn = model.turn(
                inputs: row.inputs, hasAllInputs: row.hasAllInputs, now: row.now,
                definitions: definitions, earlier: known)
            let result = decider.decide(turn)
            do { try model.take(result) } catch { fail("the re-run breaks a rule: \(error)") }
            again[row.customer] = model
            for logged in result.events where known[logged.event.id] == nil {
                known[logged.event.id] = try? Event(json: logged.event.json)
            }
        }
        for (customer, model) in models where again[customer]?.runs ?? [:] != model.runs {
            fail("the runs of customer \(customer) differ from a re-run")
        }
    }
}
