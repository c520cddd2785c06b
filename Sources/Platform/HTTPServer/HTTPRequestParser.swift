/// Strict HTTP/1.1 requests from bytes: a state machine without sockets, clock or waiting.
///
/// Bytes go in by `feed`, events come out of ``next()`` until it is nil. A request is one
/// ``Event/head(_:)`` and one ``Event/body(_:)``; ``Event/refused(_:)`` is the last event ever.
/// However accepted requests are split, the events are the same. What is unclear is refused.
package struct HTTPRequestParser: Sendable {
    /// What the bytes turned out to be.
    package enum Event: Sendable, Hashable {
        /// A head that is accepted, size of body included.
        case head(HTTPHead)
        /// The whole body, empty if there is none; the request is complete.
        case body([UInt8])
        /// The bytes are no request this server takes; the connection must be closed.
        case refused(HTTPRefusal)
    }

    private enum State: Sendable {
        /// → `fields`, `refused`
        case requestLine
        /// → `sizedBody`, `chunkSize`, `refused`
        case fields
        /// → `requestLine`
        case sizedBody(remaining: Int)
        /// → `chunkBytes`, `trailers`, `refused`
        case chunkSize
        /// → `chunkEnd`
        case chunkBytes(remaining: Int)
        /// → `chunkSize`, `refused`
        case chunkEnd
        /// → `requestLine`, `refused`
        case trailers
        /// final
        case refused
    }

    private enum Line {
        case whole(Range<Int>)
        case unfinished(count: Int)
    }

    /// Bytes of one chunk-size line.
    private static let maximumChunkLine = 256

    private let limits: HTTPLimits
    private var state = State.requestLine
    private var buffer: [UInt8] = []
    /// Start of what is not parsed.
    private var position = 0
    /// Where the search for the end of the line goes on.
    private var scanned = 0
    private var draft = HTTPHeadDraft()
    private var maySkipEmptyLine = true
    private var body: [UInt8] = []
    /// Bytes of chunk extensions, then of trailers: what a client could send without end.
    private var ignoredCount = 0

    /// A parser at the start of a connection; only the sizes of `limits` matter here.
    package init(limits: HTTPLimits) { self.limits = limits }

    /// Bytes fed and not yet parsed.
    package var bufferedCount: Int { buffer.count - position }

    /// Whether no byte of another request has come.
    package var isIdle: Bool {
        if case .requestLine = state { bufferedCount == 0 } else { false }
    }

    /// Whether the head is read and the body is not.
    package var isInBody: Bool {
        switch state {
        case .requestLine, .fields, .refused: false
        case .sizedBody, .chunkSize, .chunkBytes, .chunkEnd, .trailers: true
        }
    }

    /// Hands bytes in; the caller bounds how many wait by looking at ``bufferedCount``.
    package mutating func feed(_ bytes: some Collection<UInt8>) {
        if case .refused = state { return }
        if position == buffer.count {
            buffer.removeAll(keepingCapacity: buffer.capacity <= 65_536)
            scanned = 0
            position = 0
        } else if position >= 4_096 {
            buffer.removeSubrange(..<position)
            scanned -= position
            position = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// The next event, or nil until more bytes are fed.
    package mutating func next() -> Event? {
        do throws(HTTPRefusal) {
            while true {
                let (event, goesOn) = try step()
                if let event { return event }
                guard goesOn else { return nil }
            }
        } catch {
            state = .refused
            buffer = []
            body = []
            position = 0
            return .refused(error)
        }
    }

    /// One transition; `(nil, false)` when it wants more bytes.
    private mutating func step() throws(HTTPRefusal) -> (event: Event?, goesOn: Bool) {
        switch state {
        case .requestLine: return (nil, try readRequestLine())
        case .fields: return try readField()
        case .sizedBody(let remaining):
            let left = takeBody(remaining)
            state = .sizedBody(remaining: left)
            return left == 0 ? (completed(), true) : (nil, false)
        case .chunkSize: return (nil, try readChunkSize())
        case .chunkBytes(let remaining):
            let left = takeBody(remaining)
            state = left == 0 ? .chunkEnd : .chunkBytes(remaining: left)
            return (nil, left == 0)
        case .chunkEnd: return (nil, try readChunkEnd())
        case .trailers: return try readTrailer()
        case .refused: return (nil, false)
        }
    }

    // MARK: Head

    private mutating func readRequestLine() throws(HTTPRefusal) -> Bool {
        switch try takeLine() {
        case .unfinished(let count):
            guard count > 0 else { return false }
            let first = buffer[position]
            // Another protocol on this port (TLS, say) is told at once, not at the time-out.
            guard HTTPText.isToken(first) || first == HTTPText.carriageReturn else {
                throw .malformedRequestLine
            }
            try checkUnfinishedRequestLine(count)
            return false
        case .whole(let line):
            if line.isEmpty, maySkipEmptyLine {
                // Old clients end a body with one CRLF too many.
                maySkipEmptyLine = false
                return true
            }
            draft = HTTPHeadDraft()
            draft.byteCount = line.count + 2
            try draft.readRequestLine(buffer[line], limits: limits)
            guard draft.byteCount <= limits.maximumHead else { throw .headTooLarge }
            state = .fields
            return true
        }
    }

    private func checkUnfinishedRequestLine(_ count: Int) throws(HTTPRefusal) {
        let methodBytes = buffer[position...].prefix(HTTPHeadDraft.maximumMethod + 1)
        guard count <= HTTPHeadDraft.maximumMethod || methodBytes.contains(HTTPText.space) else {
            throw .unsupportedMethod
        }
        // " HTTP/1.1" and CR may still be part of it.
        guard count <= HTTPHeadDraft.maximumMethod + limits.maximumTarget + 11 else {
            throw .targetTooLong
        }
        guard count <= limits.maximumHead else { throw .headTooLarge }
    }

    private mutating func readField() throws(HTTPRefusal) -> (event: Event?, goesOn: Bool) {
        switch try takeLine() {
        case .unfinished(let count):
            guard draft.byteCount + count <= limits.maximumHead else { throw .headTooLarge }
            return (nil, false)
        case .whole(let line) where !line.isEmpty:
            draft.byteCount += line.count + 2
            guard draft.byteCount <= limits.maximumHead else { throw .headTooLarge }
            try draft.readField(buffer[line], limits: limits)
            return (nil, true)
        case .whole:
            let (head, framing) = try draft.finish(limits: limits)
            draft = HTTPHeadDraft()
            ignoredCount = 0
            switch framing {
            case .length(let length):
                state = .sizedBody(remaining: length)
                // A promise reserves no memory beyond a first helping.
                body.reserveCapacity(min(length, 16_384))
            case .chunked: state = .chunkSize
            }
            return (.head(head), true)
        }
    }

    // MARK: Body

    /// Moves up to `wanted` bytes into the body and returns how many are still wanted.
    private mutating func takeBody(_ wanted: Int) -> Int {
        let count = min(wanted, bufferedCount)
        body.append(contentsOf: buffer[position..<(position + count)])
        position += count
        scanned = position
        return wanted - count
    }

    private mutating func completed() -> Event {
        state = .requestLine
        maySkipEmptyLine = true
        let whole = body
        body = []
        return .body(whole)
    }

    private mutating func readChunkSize() throws(HTTPRefusal) -> Bool {
        switch try takeLine() {
        case .unfinished(let count):
            guard count <= Self.maximumChunkLine + 1 else { throw .malformedChunk }
            return false
        case .whole(let line):
            guard line.count <= Self.maximumChunkLine else { throw .malformedChunk }
            var size = 0
            var index = line.lowerBound
            while index < line.upperBound, let digit = HTTPText.hexValue(buffer[index]) {
                size = size * 16 + digit
                guard size <= limits.maximumBody else { throw .bodyTooLarge }
                index += 1
            }
            let rest = buffer[index..<line.upperBound]
            guard index > line.lowerBound, rest.first == nil || rest.first == HTTPText.semicolon,
                rest.allSatisfy(HTTPText.isFieldContent)
            else { throw .malformedChunk }
            try ignore(rest.count)
            guard body.count + size <= limits.maximumBody else { throw .bodyTooLarge }
            if size == 0 {
                ignoredCount = 0
                state = .trailers
            } else {
                state = .chunkBytes(remaining: size)
            }
            return true
        }
    }

    private mutating func readChunkEnd() throws(HTTPRefusal) -> Bool {
        guard bufferedCount > 0 else { return false }
        guard buffer[position] == HTTPText.carriageReturn else { throw .malformedChunk }
        guard bufferedCount > 1 else { return false }
        guard buffer[position + 1] == HTTPText.lineFeed else { throw .malformedChunk }
        position += 2
        scanned = position
        state = .chunkSize
        return true
    }

    /// Trailers are checked and dropped: a field after the body was never authenticated with it.
    private mutating func readTrailer() throws(HTTPRefusal) -> (event: Event?, goesOn: Bool) {
        switch try takeLine() {
        case .unfinished(let count):
            guard ignoredCount + count <= limits.maximumHead else { throw .headTooLarge }
            return (nil, false)
        case .whole(let line) where !line.isEmpty:
            try ignore(line.count + 2)
            let bytes = buffer[line]
            guard HTTPText.isToken(bytes[bytes.startIndex]), bytes.contains(HTTPText.colon),
                bytes.allSatisfy(HTTPText.isFieldContent)
            else { throw .malformedField }
            return (nil, true)
        case .whole: return (completed(), true)
        }
    }

    private mutating func ignore(_ count: Int) throws(HTTPRefusal) {
        ignoredCount += count
        guard ignoredCount <= limits.maximumHead else { throw .headTooLarge }
    }

    // MARK: Lines

    /// The next line without its CRLF. A CR elsewhere is left in and refused by its reader.
    private mutating func takeLine() throws(HTTPRefusal) -> Line {
        guard let end = buffer[scanned...].firstIndex(of: HTTPText.lineFeed) else {
            scanned = buffer.count
            return .unfinished(count: bufferedCount)
        }
        guard end > position, buffer[end - 1] == HTTPText.carriageReturn else {
            throw .bareLineFeed
        }
        let line = position..<(end - 1)
        position = end + 1
        scanned = position
        return .whole(line)
    }
}
