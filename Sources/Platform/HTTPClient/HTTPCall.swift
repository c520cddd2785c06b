/// One request to make, with everything that bounds it.
package struct HTTPCall: Sendable, Hashable {
    /// In capital letters, such as `POST`; not `CONNECT` or `TRACE`.
    package var method: String

    /// Absolute, `http` or `https`, printable ASCII without user information, up to 8,192 bytes.
    package var url: String

    /// Sent as they are, in order. `Host`, `Content-Length` and what frames or holds the connection are
    /// the client's own and refused here; so is a line break anywhere.
    package var headers: [HTTPHeaderField]

    /// Up to 16 MiB; nil sends none, and `Content-Length: 0` with `POST`, `PUT` and `PATCH`.
    package var body: [UInt8]?

    /// For the whole attempt, name resolution included; up to an hour.
    package var timeout: Duration

    /// For name resolution, connecting and the TLS handshake; ``timeout`` bounds it too.
    package var connectTimeout: Duration

    /// How many bytes of the answer's body are kept, up to 64 MiB; the transfer ends where more arrive.
    package var maximumResponse: Int

    /// Where the call may go.
    package var destination: DestinationPolicy

    /// A call; nothing is checked before it is sent.
    package init(
        method: String = "POST", url: String, headers: [HTTPHeaderField] = [],
        body: [UInt8]? = nil, timeout: Duration = .seconds(10),
        connectTimeout: Duration = .seconds(5), maximumResponse: Int = 262_144,
        destination: DestinationPolicy = DestinationPolicy()
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
        self.connectTimeout = connectTimeout
        self.maximumResponse = maximumResponse
        self.destination = destination
    }
}

/// One header line of a request or an answer.
package struct HTTPHeaderField: Sendable, Hashable {
    /// As written; compared without regard to case.
    package var name: String
    /// Without the white space around it.
    package var value: String

    /// A field; nothing is checked before it is sent.
    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}
