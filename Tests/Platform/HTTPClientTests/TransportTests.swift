import HTTPClient
import Reactor
import Testing

@Suite struct TransportTests {
    @Test func `a call is written as asked and its answer read`() async throws {
        try await ClientWorld.run { connection in
            connection.readRequest()
            connection.answer(
                "{\"ok\":true}", status: "201 Created",
                headers:
                    "Content-Type: application/json\r\nX-Twice: a\r\nx-twice:  b \r\nX-Empty:\r\n")
        } body: { world in
            let body = [UInt8]("{\"id\":1}".utf8)
            let answer = try await world.send(
                world.call(
                    path: "/hook?a=b%20c",
                    headers: [
                        .init(name: "Content-Type", value: "application/json"),
                        .init(name: "X-Empty", value: ""), .init(name: "X-Space", value: "  v\t"),
                        .init(name: "X-Space", value: "é"),
                    ], body: body))
            #expect(answer.status == 201)
            #expect(String(decoding: answer.body, as: UTF8.self) == "{\"ok\":true}")
            #expect(!answer.isTruncated)
            #expect(answer.header("CONTENT-type") == "application/json")
            #expect(
                answer.headers.filter { $0.name.lowercased() == "x-twice" }.map(\.value) == [
                    "a", "b",
                ])
            #expect(answer.header("x-empty") == "")
            #expect(answer.header("x-missing") == nil)
            #expect(answer.duration > .zero)
            let request = try #require(world.receiver.requests.first)
            #expect(request.firstLine == "POST /hook?a=b%20c HTTP/1.1")
            #expect(
                Set(request.lines) == [
                    "Host: 127.0.0.1:\(world.receiver.port)", "User-Agent: tests/1", "Accept: */*",
                    "Content-Type: application/json", "X-Empty:", "X-Space: v", "X-Space: é",
                    "Content-Length: 8",
                ])
            #expect(request.body == body)
        }
    }

    @Test(arguments: [
        ("GET", nil), ("HEAD", nil), ("DELETE", nil), ("POST", 0), ("PUT", 0), ("PATCH", 0),
    ])
    func `without a body only methods that usually have one send its length`(
        method: String, length: Int?
    ) async throws {
        try await ClientWorld.run { connection in
            connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        } body: { world in
            #expect(try await world.send(world.call(method)).status == 200)
            let request = try #require(world.receiver.requests.first)
            #expect(request.firstLine == "\(method) /hook HTTP/1.1")
            #expect(request.has("Content-Length") == (length != nil))
            #expect(!request.has("Content-Type") && !request.has("Transfer-Encoding"))
        }
    }

    @Test(arguments: ["GET", "POST", "PUT", "DELETE"])
    func `a body goes with any method, long ones without asking first`(method: String) async throws
    {
        try await ClientWorld.run { connection in
            connection.readRequest()
            connection.answer("")
        } body: { world in
            let body = [UInt8](repeating: 7, count: 3_000_000)
            #expect(try await world.send(world.call(method, body: body)).status == 200)
            let request = try #require(world.receiver.requests.first)
            #expect(request.firstLine == "\(method) /hook HTTP/1.1")
            #expect(request.body == body)
            #expect(!request.has("Expect"))
        }
    }

    @Test func `a redirect is an answer and is not followed`() async throws {
        try await ClientWorld.run { connection in
            while connection.readRequest() != nil {
                connection.answer("", status: "302 Found", headers: "Location: /elsewhere\r\n")
            }
        } body: { world in
            let answer = try await world.send(world.call())
            #expect(answer.status == 302)
            #expect(answer.header("location") == "/elsewhere")
            #expect(world.receiver.requests.count == 1)
        }
    }

    @Test func `an interim answer is passed over with its headers`() async throws {
        try await ClientWorld.run { connection in
            connection.readRequest()
            connection.send("HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n")
            connection.answer("done")
        } body: { world in
            let answer = try await world.send(world.call())
            #expect(answer.status == 200)
            #expect(answer.header("link") == nil)
            #expect(answer.body == [UInt8]("done".utf8))
        }
    }

    @Test func `a chunked answer is put together and its trailer dropped`() async throws {
        try await ClientWorld.run { connection in
            connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            connection.send("3\r\nabc\r\n2\r\nde\r\n0\r\nX-Late: 1\r\n\r\n")
        } body: { world in
            let answer = try await world.send(world.call())
            #expect(answer.body == [UInt8]("abcde".utf8))
            #expect(answer.header("x-late") == nil)
        }
    }

    @Test func `of a big answer the first bytes are kept and the rest is not read`() async throws {
        try await ClientWorld.run { connection in
            connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            while connection.send("a\r\n0123456789\r\n") {}
        } body: { world in
            let answer = try await world.send(world.call(maximumResponse: 25))
            #expect(answer.status == 200)
            #expect(answer.isTruncated)
            #expect(String(decoding: answer.body, as: UTF8.self) == "0123456789012345678901234")
        }
    }

    @Test(arguments: [(10, false), (9, true), (0, true)])
    func `an answer as long as the limit is whole`(limit: Int, isTruncated: Bool) async throws {
        try await ClientWorld.run { connection in
            while connection.readRequest() != nil { connection.answer("0123456789") }
        } body: { world in
            let answer = try await world.send(world.call(maximumResponse: limit))
            #expect(answer.body.count == limit)
            #expect(answer.isTruncated == isTruncated)
        }
    }

    @Test func `a compressed answer is handed over as it came`() async throws {
        try await ClientWorld.run { connection in
            connection.readRequest()
            connection.answer("not gzip", headers: "Content-Encoding: gzip\r\n")
        } body: { world in
            let answer = try await world.send(
                world.call(headers: [.init(name: "Accept-Encoding", value: "gzip")]))
            #expect(answer.body == [UInt8]("not gzip".utf8))
        }
    }

    @Test func `a connection is kept for the next call`() async throws {
        try await ClientWorld.run { connection in
            while let request = connection.readRequest() { connection.answer(request.firstLine) }
        } body: { world in
            for number in 0..<20 {
                let answer = try await world.send(world.call(path: "/\(number)"))
                #expect(answer.body == [UInt8]("POST /\(number) HTTP/1.1".utf8))
            }
            #expect(world.receiver.connectionCount == 1)
        }
    }

    @Test func `cookies are not kept`() async throws {
        try await ClientWorld.run { connection in
            while connection.readRequest() != nil {
                connection.answer("", headers: "Set-Cookie: a=b; Path=/\r\n")
            }
        } body: { world in
            _ = try await world.send(world.call())
            _ = try await world.send(world.call())
            #expect(world.receiver.requests.allSatisfy { !$0.has("Cookie") })
        }
    }

    @Test func `64 calls at once get their own answers`() async throws {
        try await ClientWorld.run { connection in
            while let request = connection.readRequest() {
                connection.answer(String(decoding: request.body, as: UTF8.self))
            }
        } body: { world in
            let right = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<64 {
                    group.addTask(executorPreference: number % 2 == 0 ? world.loop.tasks : nil) {
                        var isRight = true
                        for round in 0..<5 {
                            let body = [UInt8]("\(number)/\(round)".utf8)
                            isRight =
                                try await world.send(world.call(body: body)).body == body && isRight
                        }
                        return isRight
                    }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(right == 64)
            #expect(world.receiver.requests.count == 320)
        }
    }

    @Test func `a proxy named in the environment is not used`() async {
        await #expect(processExitsWith: .success) {
            setProxyVariables("http://127.0.0.1:1")
            try await ClientWorld.run { connection in
                connection.readRequest()
                connection.answer("direct")
            } body: { world in
                let answer = try await world.send(world.call())
                #expect(answer.body == [UInt8]("direct".utf8))
            }
        }
    }
}
