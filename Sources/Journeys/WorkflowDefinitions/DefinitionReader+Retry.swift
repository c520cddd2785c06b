internal import JSON
internal import TimeZones

// How often an attempt is repeated.
extension DefinitionReader {
    mutating func retry(_ node: Node) -> RetryPolicy? {
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
                    + "\(retry.longest.iso8601); make max longer.", .combination)
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
