internal import JSON
internal import JourneyModel
internal import TimeZones

// Action steps: the tool's parameters, attempts and outlets.
extension DefinitionReader {
    private static let tools = ActionStep.Tool.allCases.map(\.rawValue)
    private static let laterTools = ["email", "slack", "apns", "fcm"]
    private static let methods = ["POST", "GET", "PUT", "PATCH", "DELETE"]
    private static let levels = ["debug", "info", "warning", "error"]

    /// Headers that the dispatcher writes itself, and those that hold secrets.
    private static let reservedHeaders = [
        "host", "content-length", "transfer-encoding", "connection", "idempotency-key",
        "webhook-id", "webhook-timestamp", "webhook-signature",
    ]
    private static let secretHeaders = ["authorization", "proxy-authorization", "cookie"]

    mutating func actionStep(_ node: Node, _ id: StepID) -> ActionStep? {
        let what = "an action step"
        guard
            let fields = fields(
                node, what,
                keys: [
                    "type", "name", "note", "tool", "account", "with", "attempt_timeout",
                    "deadline", "retry", "next", "on_failed", "on_timeout",
                ], later: ["message", "window", "gap"])
        else { return nil }
        let tool = required("tool", in: fields, what).flatMap { self.tool($0) }
        if let tool { actionTools[id] = tool }
        let account = account(fields, tool)
        let parameters = tool.flatMap { tool in
            required("with", in: fields, what).flatMap { self.parameters($0, tool) }
        }
        let next = required("next", in: fields, what).flatMap { edge($0, from: id) }
        let onFailed = fields["on_failed"].flatMap { edge($0, from: id) }
        let onTimeout = fields["on_timeout"].flatMap { edge($0, from: id) }
        let attempt = fields["attempt_timeout"].flatMap {
            duration($0, "the attempt_timeout", .seconds(1) ... .seconds(300))
        }
        let deadline = fields["deadline"].flatMap {
            duration($0, "the deadline", .seconds(1) ... .seconds(30 * 86_400))
        }
        let retry = fields["retry"].flatMap { self.retry($0) }
        guard let tool, let parameters, let next else { return nil }
        var action = ActionStep(
            tool: tool, account: account, parameters: parameters, next: next, onFailed: onFailed,
            onTimeout: onTimeout)
        if let attempt { action.attemptTimeout = attempt }
        if let deadline { action.deadline = deadline }
        if let retry { action.retry = retry }
        if action.deadline < action.attemptTimeout {
            problems.add(
                node.pointer.appending(fields["deadline"] == nil ? "attempt_timeout" : "deadline"),
                "The deadline \(action.deadline.iso8601) is shorter than one attempt, "
                    + "\(action.attemptTimeout.iso8601); make it longer.")
        }
        return action
    }

    private mutating func tool(_ node: Node) -> ActionStep.Tool? {
        guard let text = string(node, "the tool") else { return nil }
        if let tool = ActionStep.Tool(rawValue: text) { return tool }
        if let refusal = Self.refusals[text] {
            complain(node, refusal)
        } else if Self.laterTools.contains(text) {
            complain(node, notYet("The tool \"\(text)\""))
        } else {
            complain(
                node, "\"\(text)\" is not a tool; use \(alternatives(Self.tools)).",
                fix: Spelling.nearestWord(to: text, among: Self.tools))
        }
        return nil
    }

    private mutating func account(_ fields: Fields, _ tool: ActionStep.Tool?) -> String? {
        guard let node = fields["account"] else {
            if tool == .http {
                complain(
                    fields.node,
                    "An http action needs \"account\": a name of the configuration's accounts.")
            }
            return nil
        }
        if tool == .log {
            complain(node, "A log action takes no account; leave the key out.")
            return nil
        }
        guard let text = node.value.string, isStepName(text) else {
            complain(node, "The account is a name of the configuration's accounts, like \"crm\".")
            return nil
        }
        return text
    }

    private mutating func parameters(_ node: Node, _ tool: ActionStep.Tool) -> ValueTree? {
        switch tool {
        case .http: http(node)
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

    private mutating func oneOf(_ words: [String], _ node: Node?, _ what: String) -> String? {
        guard let node else { return nil }
        if let text = node.value.string, words.contains(text) { return text }
        let text = node.value.string ?? node.value.kind
        complain(
            node, "\(capitalised(what)) is \(alternatives(words)), not \(text).",
            fix: node.value.string.flatMap { Spelling.nearestWord(to: $0, among: words) })
        return nil
    }

    private mutating func retry(_ node: Node) -> RetryPolicy? {
        guard
            let fields = fields(
                node, "a retry",
                keys: ["attempts", "backoff", "factor", "max", "jitter", "on"])
        else { return nil }
        var retry = RetryPolicy()
        if let attempts = fields["attempts"] {
            retry.attempts = integer(attempts, "the number of attempts", 1...20) ?? 1
        }
        let longest = Duration.seconds(7 * 86_400)
        if let backoff = fields["backoff"] {
            retry.backoff = duration(backoff, "the backoff", .seconds(1)...longest) ?? .seconds(1)
        }
        if let most = fields["max"] {
            retry.longest = duration(most, "the max", .seconds(1)...longest) ?? longest
        }
        if retry.backoff > retry.longest {
            let place = fields["backoff"] ?? fields["max"] ?? node
            complain(
                place,
                "The backoff \(retry.backoff.iso8601) is longer than its max "
                    + "\(retry.longest.iso8601); make max longer.")
        }
        if let factor = fields["factor"] {
            if let number = factor.value.number,
                JSONNumber.compare(number, JSONNumber(1)) >= 0,
                JSONNumber.compare(number, JSONNumber(10)) <= 0
            {
                retry.factor = number
            } else {
                complain(factor, "The factor is a number from 1 to 10.")
            }
        }
        if let jitter = fields["jitter"] {
            retry.jitter = boolean(jitter, "\"jitter\"") ?? true
        }
        if let causes = fields["on"], let read = self.causes(causes) { retry.causes = read }
        return retry
    }

    private mutating func causes(_ node: Node) -> [RetryPolicy.Cause]? {
        guard let items = items(node, "the list of causes") else { return nil }
        var causes: [RetryPolicy.Cause] = []
        for item in items {
            guard let cause = word(item, "a cause of a retry", RetryPolicy.Cause.self) else {
                continue
            }
            if causes.contains(cause) {
                complain(item, "The cause \"\(cause.rawValue)\" stands twice; leave one out.")
            } else {
                causes.append(cause)
            }
        }
        return causes
    }
}
