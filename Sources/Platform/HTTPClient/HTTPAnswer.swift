/// What the other side answered, whatever its status; redirects are answers like others.
package struct HTTPAnswer: Sendable, Hashable {
    /// Three digits, such as 200.
    package let status: Int

    /// In order; ``header(_:)`` finds one.
    package let headers: [HTTPHeaderField]

    /// The body, at most the call's `maximumResponse` bytes; never decompressed.
    package let body: [UInt8]

    /// Whether there was more than ``body`` holds. The rest was not read and its connection closed.
    package let isTruncated: Bool

    /// From the start of the call to the end of the answer.
    package let duration: Duration

    /// An answer, also for doubles of the transport.
    package init(
        status: Int, headers: [HTTPHeaderField] = [], body: [UInt8] = [],
        isTruncated: Bool = false, duration: Duration = .zero
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.isTruncated = isTruncated
        self.duration = duration
    }

    /// The value of the first field of that name, in any case.
    package func header(_ name: String) -> String? {
        let wanted = name.lowercased()
        return headers.first { $0.name.lowercased() == wanted }?.value
    }
}
