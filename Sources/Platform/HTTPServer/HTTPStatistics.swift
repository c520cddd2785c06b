/// What a listener has done since it started, and what it does now.
package struct HTTPStatistics: Sendable, Hashable {
    /// Connections open now.
    package var openConnections = 0
    /// Connections accepted.
    package var acceptedConnections = 0
    /// Handlers at work now, those whose client went away included.
    package var runningHandlers = 0
    /// Answers by status, the server's own included.
    package var answers: [Int: Int] = [:]
    /// Refusals of the server itself, by cause.
    package var refusals: [HTTPRefusal: Int] = [:]

    /// Nothing has happened.
    package init() {}
}
