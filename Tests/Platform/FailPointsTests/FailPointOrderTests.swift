import FailPoints
import Testing

#if DEBUG
    @Suite struct FailPointOrderTests {
        @Test func `an order names a point, a passing and an action`() {
            let plain = FailPointOrder("turn.locked")
            #expect(plain?.name == "turn.locked")
            #expect(plain?.nth == 1)
            #expect(plain?.action == .kill)
            let second = FailPointOrder("turn.locked:2")
            #expect(second?.nth == 2)
            #expect(FailPointOrder("turn.locked:3:pause")?.action == .pause)
        }

        @Test(arguments: ["", ":1", "a:0", "a:x", "a:-1", "a:1:stop", "a:1:pause:2"])
        func `what is no order is refused`(text: String) {
            #expect(FailPointOrder(text) == nil)
        }

        @Test func `a point that nobody ordered does nothing`() {
            for _ in 0..<3 { failPoint("a point of this test") }
        }
    }
#endif
