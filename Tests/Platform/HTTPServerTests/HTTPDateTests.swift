import Testing

@testable import HTTPServer

@Suite struct HTTPDateTests {
    @Test func `the date is written as RFC 9110 shows it`() {
        #expect(HTTPDate.format(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.format(1_709_251_199) == "Thu, 29 Feb 2024 23:59:59 GMT")
    }
}
