import COpenSSL
import Glibc
import HTTPServer
import Reactor
import Testing

/// A folder with a certificate made for one test.
private final class CertificateFolder {
    let path: String
    var files: HTTPTLS {
        HTTPTLS(certificateFile: path + "/certificate.pem", keyFile: path + "/key.pem")
    }

    init(name: String) throws {
        var template = Array("/tmp/http-server-tests-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure.noFolder }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        try renew(name: name)
    }

    enum Failure: Error { case noFolder, noCertificate }

    func renew(name: String) throws {
        let words = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
            "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=\(name)",
            "-keyout", files.keyFile, "-out", files.certificateFile,
        ]
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process = pid_t()
        guard posix_spawnp(&process, "openssl", &actions, nil, &arguments, environ) == 0 else {
            throw Failure.noCertificate
        }
        var status: Int32 = 0
        guard waitpid(process, &status, 0) == process, status == 0 else {
            throw Failure.noCertificate
        }
    }

    deinit {
        unlink(files.keyFile)
        unlink(files.certificateFile)
        rmdir(path)
    }
}

/// A blocking TLS client over a ``RawClient``'s socket.
private final class TLSClient {
    private let raw: RawClient
    private let context = SSL_CTX_new(TLS_client_method())
    private let session: OpaquePointer?
    let isConnected: Bool

    init(port: UInt16, offering protocols: [String] = [], newest: Int32? = nil) {
        raw = RawClient(port: port)
        if let newest { SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(newest), nil) }
        session = SSL_new(context)
        let names = protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        if !names.isEmpty { SSL_set_alpn_protos(session, names, UInt32(names.count)) }
        SSL_set_fd(session, raw.descriptor)
        isConnected = SSL_connect(session) == 1
    }

    deinit {
        SSL_free(session)
        SSL_CTX_free(context)
    }

    var chosenProtocol: String {
        var start: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(session, &start, &count)
        return String(
            decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
    }

    var serverName: String {
        guard let certificate = SSL_get1_peer_certificate(session) else { return "" }
        defer { X509_free(certificate) }
        var buffer = [CChar](repeating: 0, count: 128)
        X509_NAME_get_text_by_NID(
            X509_get_subject_name(certificate), NID_commonName, &buffer, Int32(buffer.count))
        return String(
            decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                SSL_write(
                    session, buffer.baseAddress.map { $0 + sent }, Int32(bytes.count - sent))
            }
            guard count > 0 else { return }
            sent += Int(count)
        }
    }

    /// Says that nothing more will come; the answer may still be read.
    func finishSending() { SSL_shutdown(session) }

    func reset() { raw.reset() }

    func answers(_ count: Int) -> [RawClient.Answer] {
        var received: [UInt8] = []
        var answers: [RawClient.Answer] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while answers.count < count {
            if let (answer, used) = RawClient.parse(received, toHEAD: false) {
                answers.append(answer)
                received.removeFirst(used)
                continue
            }
            let got = SSL_read(session, &buffer, Int32(buffer.count))
            guard got > 0 else { break }
            received.append(contentsOf: buffer[..<Int(got)])
        }
        return answers
    }
}

@Suite struct TLSTests {
    @Test func `requests and answers go over TLS`() async throws {
        let folder = try CertificateFolder(name: "first")
        let server = try Server(tls: folder.files) { request in
            .json(202, Array("\(request.isSecure) ".utf8) + request.body)
        }
        try await withServer(server) { server in
            let client = TLSClient(port: server.port, offering: ["h2", "http/1.1"])
            #expect(client.isConnected && client.chosenProtocol == "http/1.1")
            // Larger than a record and than what is read ahead, pipelined.
            let body = String(repeating: "b", count: 90_000)
            let request = "POST /hook HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\n\r\n\(body)"
            client.send(request + request + request)
            let answers = client.answers(3)
            #expect(answers.map(\.status) == [202, 202, 202])
            #expect(answers.last?.body == Array("true \(body)".utf8))
        }
    }

    @Test func `a half-closed TLS client still gets its answer`() async throws {
        let folder = try CertificateFolder(name: "first")
        try await withServer(Server(tls: folder.files)) { server in
            let client = TLSClient(port: server.port)
            client.send(HostileTable.whole)
            client.finishSending()
            #expect(client.answers(1).map(\.status) == [202])
        }
    }

    @Test func `a TLS client that resets its connection harms nobody`() async throws {
        let folder = try CertificateFolder(name: "first")
        let began = Signal()
        let isGone = Signal()
        let server = try Server(tls: folder.files) { _ in
            began.give()
            await isGone.wait()
            return HTTPResponse(status: 200, body: [UInt8](repeating: 0x61, count: 3_000_000))
        }
        try await withServer(server) { server in
            let client = TLSClient(port: server.port)
            client.send(HostileTable.whole)
            await began.wait()
            client.reset()
            isGone.give()
            await server.listener.drain(within: .seconds(10))
            #expect(server.listener.stats.openConnections == 0)
        }
    }

    @Test func `other protocols, old versions and plain text are refused`() async throws {
        let folder = try CertificateFolder(name: "first")
        try await withServer(Server(tls: folder.files)) { server in
            #expect(!TLSClient(port: server.port, offering: ["h2"]).isConnected)
            #expect(!TLSClient(port: server.port, newest: TLS1_1_VERSION).isConnected)
            #expect(TLSClient(port: server.port, newest: TLS1_2_VERSION).isConnected)
            let plain = RawClient(port: server.port)
            plain.send(ConnectionTests.get)
            #expect(plain.statusesToEnd() == [])
            #expect(server.listener.stats.refusals[.tlsFailure] ?? 0 >= 2)
        }
    }

    @Test func `certificates are read again on demand, and kept when the new ones are bad`()
        async throws
    {
        let folder = try CertificateFolder(name: "first")
        try await withServer(Server(tls: folder.files)) { server in
            let early = TLSClient(port: server.port)
            #expect(early.serverName == "first")
            try folder.renew(name: "second")
            try server.listener.reloadTLS()
            #expect(TLSClient(port: server.port).serverName == "second")
            early.send(HostileTable.whole)
            #expect(early.answers(1).map(\.status) == [202])
            unlink(folder.files.keyFile)
            #expect(throws: HTTPServerError.self) { try server.listener.reloadTLS() }
            #expect(TLSClient(port: server.port).serverName == "second")
        }
    }

    @Test func `missing files are named`() throws {
        let files = HTTPTLS(certificateFile: "/nowhere/c.pem", keyFile: "/nowhere/k.pem")
        #expect {
            _ = try Server(tls: files)
        } throws: { error in
            "\(error)".hasPrefix("Cannot use /nowhere/c.pem for TLS: ")
        }
    }
}
