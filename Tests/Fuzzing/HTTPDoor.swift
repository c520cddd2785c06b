import HTTPServer

/// The first byte says how the others are cut into pieces; they are what a client sends.
func fuzzHTTP(_ bytes: [UInt8]) {
    guard let first = bytes.first else { return }
    let sent = Array(bytes.dropFirst())
    let whole = events(of: sent, pieces: max(sent.count, 1))
    let cut = events(of: sent, pieces: Int(first % 32) + 1)
    require(
        accepted(whole) == accepted(cut),
        "the same bytes were taken for other requests when they came in other pieces")
    require(
        whole.contains(where: isRefusal) == cut.contains(where: isRefusal),
        "the same bytes were refused only in some pieces")
}

private func events(of bytes: [UInt8], pieces length: Int) -> [HTTPRequestParser.Event] {
    var limits = HTTPLimits()
    limits.maximumBody = 2_048
    limits.maximumHead = 1_024
    limits.maximumTarget = 256
    limits.maximumHeaders = 16
    var parser = HTTPRequestParser(limits: limits)
    var events: [HTTPRequestParser.Event] = []
    for start in stride(from: 0, to: bytes.count, by: length) {
        parser.feed(bytes[start..<min(start + length, bytes.count)])
        while let event = parser.next() {
            check(event, limits)
            if let last = events.last, isRefusal(last) { fatalError("it went on after a refusal") }
            events.append(event)
        }
    }
    return events
}

private func check(_ event: HTTPRequestParser.Event, _ limits: HTTPLimits) {
    switch event {
    case .head(let head):
        require(head.target.utf8.count <= limits.maximumTarget, "a target past its bound")
        require(head.headers.count <= limits.maximumHeaders, "more headers than the bound")
        _ = head.pathSegments
        _ = head.queryValues(of: "a")
        for field in head.headers.all {
            require(!field.value.utf8.contains(0), "a NUL in a header's value")
            require(
                !field.value.utf8.contains { $0 == 0x0d || $0 == 0x0a }, "a line break in a value")
        }
    case .body(let body):
        require(body.count <= limits.maximumBody, "a body past its bound")
    case .refused: break
    }
}

private func accepted(_ events: [HTTPRequestParser.Event]) -> [HTTPRequestParser.Event] {
    events.filter { !isRefusal($0) }
}

private func isRefusal(_ event: HTTPRequestParser.Event) -> Bool {
    if case .refused = event { true } else { false }
}
