import FeatureLedger
import FeatureModel
import JSON
import Postgres
import Testing

struct ConsumeTests {
    @Test func `a command is decided once, and a repeat gets the same receipt`() async throws {
        try await World.with { world in
            try await world.give("pro")
            let command = try world.command("generations", 10, operation: "o1")
            let first = try await world.ledger.consume(command, in: .production)
            #expect(first.receipt?.accepted == true)
            #expect(first.receipt?.access.balance == 0)
            #expect(!first.isReplay)
            for _ in 0..<3 {
                let again = try await world.ledger.consume(command, in: .production)
                #expect(again.isReplay)
                #expect(again.receipt == first.receipt)
            }
            #expect(try await world.balance("generations") == 0)
            try await world.expectSound()
        }
    }

    @Test func `a denial is kept too, also when units come later`() async throws {
        try await World.with { world in
            let command = try world.command("credits", 1, operation: "o1")
            let first = try await world.ledger.consume(command, in: .production)
            #expect(first.receipt?.code == .insufficient)
            try await world.give("coins")
            let again = try await world.ledger.consume(command, in: .production)
            #expect(again.isReplay)
            #expect(again.receipt?.accepted == false)
            #expect(try await world.balance("credits") == 1_000)
        }
    }

    @Test func `an id that was used for another command is a conflict and changes nothing`()
        async throws
    {
        try await World.with { world in
            try await world.give("coins")
            let ledger = world.ledger
            _ = try await ledger.consume(
                world.command("credits", 1, operation: "o1"), in: .production)
            for other in [
                try world.command("credits", 2, operation: "o1"),
                try world.command("generations", 1, operation: "o1"),
            ] {
                #expect(try await ledger.consume(other, in: .production) == .conflict)
            }
            #expect(try await world.balance("credits") == 999)
            // Of another customer it is another id.
            let elsewhere = try await ledger.consume(
                world.command("credits", 2, operation: "o1", customer: "d"), in: .production)
            #expect(elsewhere.receipt?.accepted == false)
        }
    }

    @Test func `concurrent consumptions never overdraw, and each repeat is replayed`() async throws
    {
        try await World.with(connections: 16) { world in
            try await world.give("coins")
            let ledger = world.ledger
            let commands = try (0..<300).map {
                try world.command("credits", 7, operation: "o\($0)")
            }
            let accepted = try await withThrowingTaskGroup(of: [Bool].self) { group in
                for worker in 0..<24 {
                    group.addTask {
                        var accepted: [Bool] = []
                        // Everyone does everything, each from another start.
                        for index in 0..<commands.count where index % 8 == worker % 8 {
                            let outcome = try await ledger.consume(
                                commands[index], in: .production)
                            accepted.append(
                                outcome.receipt?.accepted == true && !outcome.isReplay)
                        }
                        return accepted
                    }
                }
                return try await group.reduce(into: 0) { $0 += $1.count { $0 } }
            }
            #expect(accepted == 142)
            #expect(try await world.balance("credits") == 6)
            let charged = try await world.number(
                "select -sum(amount) from features.entries where kind = 'used'")
            #expect(charged == 994)
            #expect(try await world.number("select count(*) from features.operations") == 300)
            try await world.expectSound()
        }
    }

    @Test func `metadata is kept with the decision`() async throws {
        try await World.with { world in
            _ = try await world.ledger.consume(
                world.command("credits", 1, operation: "o1"), metadata: ["source": "settings"],
                in: .production)
            let kept = try await world.texts(
                "select metadata->>'source' as value from features.operations")
            #expect(kept == ["settings"])
        }
    }

    @Test func `sandbox and production never meet`() async throws {
        try await World.with { world in
            try await world.give("coins", in: .sandbox)
            let command = try world.command("credits", 1, operation: "o1")
            let outcome = try await world.ledger.consume(command, in: .production)
            #expect(outcome.receipt?.accepted == false)
            let sandbox = try await world.ledger.consume(command, in: .sandbox)
            #expect(sandbox.receipt?.accepted == true)
            #expect(!sandbox.isReplay)
        }
    }

    // MARK: With a purchase

    @Test func `a first use can bring its purchase: granted and charged together`() async throws {
        try await World.with { world in
            let purchase = try world.purchase("t1", product: "coins")
            let command = try world.command("credits", 1_000, operation: "o1")
            let outcome = try await world.ledger.consume(
                command, purchase: purchase, in: .production)
            #expect(outcome.receipt?.accepted == true)
            #expect(outcome.receipt?.access.balance == 0)
            #expect(outcome.receipt?.access.allowed == false)
            let again = try await world.ledger.consume(command, purchase: purchase, in: .production)
            #expect(again.isReplay)
            #expect(try await world.balance("credits") == 0)
            try await world.expectSound()
        }
    }

    @Test func `the grant stands when the use is denied, and when its id is taken`() async throws {
        try await World.with { world in
            let ledger = world.ledger
            let denied = try await ledger.consume(
                world.command("credits", 1_001, operation: "o1"),
                purchase: world.purchase("t1", product: "coins"), in: .production)
            #expect(denied.receipt?.accepted == false)
            #expect(try await world.balance("credits") == 1_000)
            let conflict = try await ledger.consume(
                world.command("credits", 1, operation: "o1"),
                purchase: world.purchase("t2", product: "coins"), in: .production)
            #expect(conflict == .conflict)
            #expect(try await world.balance("credits") == 2_000)
            try await world.expectSound()
        }
    }

    @Test func `a purchase that is refused writes nothing and decides nothing`() async throws {
        try await World.with { world in
            let command = try world.command("credits", 1, operation: "o1")
            await #expect(throws: PurchaseRefusal.unknownProduct("unheard-of")) {
                try await world.ledger.consume(
                    command, purchase: world.purchase("t1", product: "unheard-of"),
                    in: .production)
            }
            for table in ["accounts", "entries", "operations", "purchases"] {
                #expect(try await world.number("select count(*) from features.\(table)") == 0)
            }
        }
    }

    @Test func `a transaction grants one customer, also when two show it at once`() async throws {
        try await World.with(connections: 8) { world in
            let ledger = world.ledger
            let purchase = try world.purchase("t1", product: "coins")
            let taken = await withTaskGroup(of: Bool.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        do {
                            _ = try await ledger.record(
                                purchase, for: Key(checked: "c\(number)"), in: .production)
                            return true
                        } catch PurchaseRefusal.otherCustomer {
                            return false
                        } catch {
                            Issue.record("\(error)")
                            return false
                        }
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(taken == 1)
            let granted = try await world.number(
                "select sum(amount) from features.entries where kind = 'granted'")
            #expect(granted == 1_000)
            try await world.expectSound()
        }
    }

    @Test func `what the store signs later is taken in, whoever's hand it was in between`()
        async throws
    {
        try await World.with { world in
            let ledger = world.ledger
            let customer: CustomerKey = Key(checked: "c")
            _ = try await ledger.record(
                world.purchase("t1", product: "coins"), for: customer, in: .production)
            _ = try await ledger.consume(
                world.command("credits", 300, operation: "o1"), in: .production)
            let refund = try world.purchase(
                "t1", product: "coins",
                changes: JSONObject([
                    ("revocationDate", .integer(Int64(1_769_817_700_000))),
                    ("signedDate", .integer(Int64(1_769_817_700_000))),
                ]))
            _ = try await ledger.record(refund, for: customer, in: .production)
            #expect(try await world.balance("credits") == 0)
            let reversal = try world.purchase(
                "t1", product: "coins",
                changes: JSONObject([("signedDate", .integer(Int64(1_769_817_800_000)))]))
            _ = try await ledger.record(reversal, for: customer, in: .production)
            #expect(try await world.balance("credits") == 700)
            _ = try await ledger.record(refund, for: customer, in: .production)
            #expect(try await world.balance("credits") == 700)
            let gone = try await ledger.revoke(
                .appStore("t1"), of: customer, in: .production, by: world.author)
            #expect(gone != nil)
            let again = try world.purchase(
                "t1", product: "coins",
                changes: JSONObject([("signedDate", .integer(Int64(1_769_817_900_000)))]))
            _ = try await ledger.record(again, for: customer, in: .production)
            #expect(try await world.balance("credits") == 0)
            try await world.expectSound()
        }
    }
}
