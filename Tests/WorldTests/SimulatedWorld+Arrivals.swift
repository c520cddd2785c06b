import JSON
import JourneyEngine
import JourneyModel
import JourneyTurns
import TestMaterial
import TestModel
import TimeZones

// The endpoint's transactions, and routing.
extension SimulatedWorld {
    /// A statement is sent: its row has a number and a time, and nobody else sees it.
    mutating func beginIngest(_ worker: Int) {
        guard let place = mail.indices.randomElement(using: &random) else { return }
        let delivery = mail[place]
        let isFirst: Bool
        switch firstBodies[delivery.id] {
        // The key is in another transaction's hand: the statement waits for it.
        case .some(nil): return
        case .some(let body?) where body == delivery.body:
            mail.remove(at: place)
            workers[worker].ingests.append(
                SimulatedWorker.Ingest(
                    delivery: delivery, row: nil, isFirst: false, isCommitted: true))
            return
        case .some: isFirst = false
        case nil:
            isFirst = true
            firstBodies[delivery.id] = .some(nil)
        }
        mail.remove(at: place)
        sequence += 1
        inbox[sequence] = InboxRow(
            customer: owner(of: delivery.person), person: delivery.person,
            content: .delivery(
                StoredDelivery(
                    id: sequence, connector: "revenuecat", providerEventID: delivery.id,
                    body: delivery.body, receivedAt: now, earlier: nil)),
            recordedAt: now, isVisible: false)
        if fault == .answersBeforeTheCommit { promised.insert(delivery.id) }
        workers[worker].ingests.append(
            SimulatedWorker.Ingest(delivery: delivery, row: sequence, isFirst: isFirst))
    }

    /// Known, and no row of theirs waits to be routed: otherwise this one would overtake it.
    private func owner(of person: String) -> CustomerID? {
        let waits = inbox.values.contains {
            $0.isVisible && $0.customer == nil && $0.person == person
        }
        return waits ? nil : people[person]
    }

    /// Commits, or answers what is committed, or loses its connection.
    @discardableResult
    mutating func advanceIngest(_ worker: Int) -> Bool {
        guard let place = workers[worker].ingests.indices.randomElement(using: &random) else {
            return false
        }
        let ingest = workers[worker].ingests[place]
        if !isCalm, random.chance(5) {
            workers[worker].ingests.remove(at: place)
            rollBack(ingest)
        } else if ingest.isCommitted {
            workers[worker].ingests.remove(at: place)
            promised.insert(ingest.delivery.id)
        } else {
            workers[worker].ingests[place].isCommitted = true
            if ingest.isFirst { firstBodies[ingest.delivery.id] = .some(ingest.delivery.body) }
            if let row = ingest.row {
                inbox[row]?.isVisible = true
                taken[row] = 0
            }
        }
        return true
    }

    /// Whatever became of it, the provider heard no 200, and sends it again.
    mutating func rollBack(_ ingest: SimulatedWorker.Ingest) {
        // Who was answered 200 does not send again.
        if !promised.contains(ingest.delivery.id) || ingest.isCommitted {
            mail.append(ingest.delivery)
        }
        guard !ingest.isCommitted else { return }
        if let row = ingest.row { inbox[row] = nil }
        if ingest.isFirst { firstBodies[ingest.delivery.id] = nil }
    }

    /// One session routes at a time, the oldest rows first.
    @discardableResult
    mutating func advanceRouting(_ worker: Int) -> Bool {
        if let rows = workers[worker].routing {
            for (row, person) in rows.sorted(by: { $0.key < $1.key }) {
                if people[person] == nil {
                    let id = CustomerID(Int64(people.count + 1))
                    people[person] = id
                    models[id] = CustomerModel(
                        CustomerRecord(
                            id: id, environment: "production", app: nil, attributes: JSONObject(),
                            inputsTaken: 0))
                }
                inbox[row]?.customer = people[person]
            }
            workers[worker].routing = nil
            isRouting = false
            return true
        }
        let unrouted = inbox.filter { $0.value.isVisible && $0.value.customer == nil }
            .sorted { ($0.value.recordedAt, $0.key) < ($1.value.recordedAt, $1.key) }
        guard !isRouting, !unrouted.isEmpty else { return false }
        isRouting = true
        let count = Int.random(in: 1...4, using: &random)
        workers[worker].routing = Dictionary(
            uniqueKeysWithValues: unrouted.prefix(count).map { ($0.key, $0.value.person) })
        return true
    }
}
