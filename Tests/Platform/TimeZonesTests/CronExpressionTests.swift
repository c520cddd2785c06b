import Testing
import TimeZones

/// Reading the five fields of cron, and which days they name.
struct CronExpressionTests {
    private func values(_ field: CronExpression.Field) -> [Int] {
        (0..<64).filter { field.contains($0) }
    }

    @Test func `numbers, names, lists, ranges and steps are read`() throws {
        let cron = try CronExpression("0,30 */6 1-10/3 jan,JUL mon-Fri")
        #expect(values(cron.minute) == [0, 30])
        #expect(values(cron.hour) == [0, 6, 12, 18])
        #expect(values(cron.dayOfMonth) == [1, 4, 7, 10])
        #expect(values(cron.month) == [1, 7])
        #expect(values(cron.dayOfWeek) == [1, 2, 3, 4, 5])
        #expect(cron.hour.hasStep && !cron.hour.isWildcard)
        #expect(!cron.minute.hasStep)
    }

    @Test func `a step from a number runs to the end of the field`() throws {
        #expect(values(try CronExpression("5/20 * * * *").minute) == [5, 25, 45])
        #expect(values(try CronExpression("* * * * 5/1").dayOfWeek) == [5, 6])
    }

    @Test func `seven is Sunday too`() throws {
        #expect(values(try CronExpression("* * * * 7").dayOfWeek) == [0])
        #expect(values(try CronExpression("* * * * 5-7").dayOfWeek) == [0, 5, 6])
        #expect(values(try CronExpression("* * * * *").dayOfWeek) == [0, 1, 2, 3, 4, 5, 6])
    }

    @Test func `two restricted day fields match when either does`() throws {
        let cron = try CronExpression("0 9 13 * FRI")
        let friday = try #require(CivilDate("2026-11-27"))
        let thirteenth = try #require(CivilDate("2026-12-13"))
        let other = try #require(CivilDate("2026-12-12"))
        #expect(cron.matches(friday) && cron.matches(thirteenth) && !cron.matches(other))
        #expect(try !CronExpression("0 9 * * FRI").matches(thirteenth))
        #expect(try !CronExpression("0 9 13 * *").matches(friday))
    }

    @Test func `a day that no month has never matches`() throws {
        #expect(try !CronExpression("0 0 30 2 *").canMatch)
        #expect(try !CronExpression("0 0 31 4,6,9,11 *").canMatch)
        #expect(try CronExpression("0 0 29 2 *").canMatch)
        #expect(try CronExpression("0 0 30 2 MON").canMatch)
    }

    @Test(arguments: [
        "", "* * * *", "* * * * * *", "@daily", "TZ=UTC * * * *", "60 * * * *", "* 24 * * *",
        "* * 0 * *", "* * 32 * *", "* * * 13 *", "* * * * 8", "? * * * *", "* * L * *",
        "* * 15W * *",
        "* * * * 5#2", "5-1 * * * *", "*/0 * * * *", "1,,2 * * * *", "1/2/3 * * * *",
        "1-2-3 * * * *",
        "-1 * * * *", "* * * FOO *", "* * * * JAN",
    ])
    func `what is not cron of five fields is refused with a sentence`(_ text: String) {
        #expect(throws: CronError.self) { try CronExpression(text) }
    }
}
