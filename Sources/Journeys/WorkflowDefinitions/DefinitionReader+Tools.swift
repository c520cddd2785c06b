internal import JSON

// The parameters of each tool.
extension DefinitionReader {
    private static let methods = ["POST", "GET", "PUT", "PATCH", "DELETE"]
    private static let levels = ["debug", "info", "warning", "error"]

    /// Headers that the dispatcher writes itself, and those that hold secrets.
    private static let reservedHeaders = [
        "host", "content-length", "transfer-encoding", "connection", "idempotency-key",
        "webhook-id", "webhook-timestamp", "webhook-signature",
    ]
    private static let secretHeaders = ["authorization", "proxy-authorization", "cookie"]

    mutating func parameters(_ node: Node, _ tool: ActionStep.Tool) -> ValueTree? {
        switch tool {
        case .http: http(node)
        case .slack: slack(node)
        case .log: log(node)
        }
    }

    private mutating func log(_ node: Node) -> ValueTree? {
        guard let fields = fields(node, "the \"with\" of log", keys: ["level", "text"]) else {
            return nil
        }
        let level = oneOf(Self.levels, fields["level"], "the level") ?? "info"
        let text = required("text", in: fields, "the \"with\" of log").flatMap { textValue($0) }
        guard let text else { return nil }
        return .object([
            .init(key: "level", tree: .value(.literal(.string(level)))),
            .init(key: "text", tree: .value(text)),
        ])
    }

    private mutating func slack(_ node: Node) -> ValueTree? {
        let what = "the \"with\" of slack"
        guard let fields = fields(node, what, keys: ["text", "blocks"]) else { return nil }
        let text = required("text", in: fields, what).flatMap { textValue($0) }
        var members: [ValueTree.Member?] = [text.map { .init(key: "text", tree: .value($0)) }]
        if let blocks = fields["blocks"] {
            if blocks.items == nil { complain(blocks, "The blocks are an array.") }
            members.append(tree(blocks).map { .init(key: "blocks", tree: $0) })
        }
        let read = members.compactMap { $0 }
        return read.count == members.count ? .object(read) : nil
    }

    private mutating func http(_ node: Node) -> ValueTree? {
        let what = "the \"with\" of http"
        guard
            let fields = fields(
                node, what, keys: ["method", "url", "path", "headers", "json", "body"])
        else { return nil }
        let method = oneOf(Self.methods, fields["method"], "the method") ?? "POST"
        var members: [ValueTree.Member?] = [
            .init(key: "method", tree: .value(.literal(.string(method))))
        ]
        members.append(target(fields))
        if let headers = fields["headers"] { members.append(self.headers(headers)) }
        switch (fields["json"], fields["body"]) {
        case (let json?, nil): members.append(tree(json).map { .init(key: "json", tree: $0) })
        case (nil, let body?):
            members.append(textValue(body).map { .init(key: "body", tree: .value($0)) })
        case (_?, let body?):
            complain(body, "A request has either \"json\" or \"body\"; leave one out.")
            return nil
        case (nil, nil): break
        }
        if method == "GET", let place = fields["json"] ?? fields["body"] {
            complain(place, "A GET request has no body; use POST or leave it out.")
        }
        let read = members.compactMap { $0 }
        return read.count == members.count ? .object(read) : nil
    }

    private mutating func target(_ fields: Fields) -> ValueTree.Member? {
        switch (fields["url"], fields["path"]) {
        case (let url?, nil):
            if let text = url.value.string, !text.hasPrefix("https://"), !text.hasPrefix("http://")
            {
                complain(url, "A url begins with https:// or http://; or write \"path\".")
            }
            return textValue(url).map { .init(key: "url", tree: .value($0)) }
        case (nil, let path?):
            if let text = path.value.string, !text.hasPrefix("/") {
                complain(path, "A path begins with a slash; it follows the account's base_url.")
            }
            return textValue(path).map { .init(key: "path", tree: .value($0)) }
        case (nil, nil), (_?, _?):
            complain(
                fields.node, "The \"with\" of http needs exactly one of \"url\" and \"path\".")
            return nil
        }
    }

    private mutating func headers(_ node: Node) -> ValueTree.Member? {
        guard let object = node.value.object else {
            complain(node, "The headers are an object of texts by name.")
            return nil
        }
        var members: [ValueTree.Member] = []
        for member in object {
            let place = Node(value: member.value, pointer: node.pointer.appending(member.key))
            let name = member.key.lowercased()
            if !isHeaderName(member.key) {
                complain(place, "\"\(member.key)\" is not a header's name.")
            } else if Self.reservedHeaders.contains(name) {
                complain(place, "The header \(member.key) is written by the worker; leave it out.")
            } else if Self.secretHeaders.contains(name) {
                complain(
                    place,
                    "The header \(member.key) holds a secret; it belongs to the account in the "
                        + "configuration.")
            }
            if let value = textValue(place) {
                members.append(.init(key: member.key, tree: .value(value)))
            }
        }
        guard members.count == object.count else { return nil }
        return .init(key: "headers", tree: .object(members))
    }

    /// A string, or a value that is read when the effect is requested.
    private mutating func textValue(_ node: Node) -> Value? {
        guard let value = value(node) else { return nil }
        if case .literal(let literal) = value, literal.string == nil {
            complain(node, "This is a text or a value such as {\"template\": \"…\"}.")
            return nil
        }
        return value
    }

    mutating func oneOf(_ words: [String], _ node: Node?, _ what: String) -> String? {
        guard let node else { return nil }
        if let text = node.value.string, words.contains(text) { return text }
        let text = node.value.string ?? node.value.kind
        complain(
            node, "\(capitalised(what)) is \(alternatives(words)), not \(text).",
            fix: node.value.string.flatMap { Spelling.nearestWord(to: $0, among: words) })
        return nil
    }
}
