/// The bounds of one listener; every one is enforced for every connection.
///
/// Memory in the worst case is about `maximumConnections × (maximumBody + maximumHead +
/// maximumReadAhead)`. Times are checked by a sweep, so they may be late by up to a second, or by a
/// quarter of the shortest time-out where that is less.
package struct HTTPLimits: Sendable, Hashable {
    /// Bytes of a request body, after chunks are joined; more is 413.
    package var maximumBody = 1_048_576
    /// Bytes of request line and header fields together, and of trailers; more is 431.
    package var maximumHead = 16_384
    /// Bytes of the request target; more is 414.
    package var maximumTarget = 8_192
    /// Number of header fields; more is 431.
    package var maximumHeaders = 100
    /// Bytes of pipelined requests held while an earlier one is answered; the rest waits in the
    /// socket. Pipelined requests are handled one after the other, as unsafe methods must be.
    package var maximumReadAhead = 65_536
    /// Open connections. Beyond it the longest idle keep-alive connection is closed; when none is
    /// idle, newcomers wait in the backlog.
    package var maximumConnections = 4_096
    /// Connections the kernel holds until they are accepted.
    package var backlog = 1_024
    /// From the first byte of a request (or from the connection) to the end of its head; 408.
    package var headTimeout = Duration.seconds(10)
    /// From the end of the head to the end of the body; 408.
    package var bodyTimeout = Duration.seconds(20)
    /// Between an answer and the first byte of the next request; closed without a word.
    package var idleTimeout = Duration.seconds(60)
    /// From the first byte of an answer that the client would not take to its last.
    package var writeTimeout = Duration.seconds(20)
    /// For the application's answer: then the client gets 503 and the handler runs on, unheard.
    /// nil waits without end.
    package var handlerTimeout: Duration?

    /// The defaults.
    package init() {}

    /// How often deadlines are looked at.
    var sweepInterval: Duration {
        var shortest = min(headTimeout, bodyTimeout, idleTimeout, writeTimeout)
        if let handlerTimeout { shortest = min(shortest, handlerTimeout) }
        return min(.seconds(1), max(.milliseconds(5), shortest / 4))
    }
}
