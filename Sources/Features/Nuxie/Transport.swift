/// Carries one request and its answer; tests cut it.
protocol Transport: Sendable {
    /// Posts a body.
    ///
    /// - Throws: when no whole answer arrived, whatever became of the request.
    func post(_ request: TransportRequest) async throws -> TransportAnswer
}

/// A POST of JSON.
struct TransportRequest: Sendable {
    let url: String
    let body: [UInt8]
    let headers: [String: String]
    let timeout: Duration

    /// The path, for log lines and tests.
    var path: Substring {
        let rest = url.drop { $0 != ":" }.dropFirst(3)
        return rest.drop { $0 != "/" }
    }
}

/// An answer, whatever its status.
struct TransportAnswer: Sendable {
    let status: Int
    /// Names in lower case.
    let headers: [String: String]
    let body: [UInt8]

    /// Bytes of the largest answer that is read.
    static let largestBody = 4_194_304
}

/// Why no answer arrived.
struct TransportFailure: Error, CustomStringConvertible {
    let description: String
}
