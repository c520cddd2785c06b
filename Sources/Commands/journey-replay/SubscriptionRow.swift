internal import Connectors
internal import Crypto
internal import JSON
internal import JourneyModel
internal import TimeZones

/// One row of a provider's export: a subscription as of a time.
struct SubscriptionRow: Hashable {
    /// What stands for the columns that a row leaves out.
    struct Defaults: Hashable {
        var connector: String?
        var environment: String
        /// As of when the file is.
        var occurredAt: Instant
        var now: Instant
    }

    /// Why a row cannot be taken; one sentence without the line's number.
    struct Problem: Error, Hashable, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    var connector: String
    var customer: String
    var aliases: [String]
    var subscription: String
    var environment: String
    var occurredAt: Instant
    var fields: JSONObject

    static let columns =
        [
            "customer_id", "aliases", "connector", "subscription_key", "environment", "occurred_at",
            "price_amount", "price_currency",
        ] + Event.importedFields
    static let statuses = [
        "trialing", "active", "billing_issue", "grace_period", "on_hold", "paused", "expired",
        "revoked",
    ]
    private static let times = [
        "expires_at", "grace_period_expires_at", "pauses_at", "refunded_at",
    ]
    /// Bytes of an id.
    private static let longestID = 1_024

    /// - Parameter row: by column; absent, null and empty are the same.
    init(_ row: JSONObject, _ defaults: Defaults) throws(Problem) {
        let read = RowReader(row: row)
        for name in row.keys where !Self.columns.contains(name) {
            throw Problem(
                "there is no column \"\(name.prefix(64))\"; name it with --column, or leave it out "
                    + "with --ignore-others")
        }
        customer = try read.id("customer_id", longest: Self.longestID)
        subscription = try read.id("subscription_key", longest: Self.longestID)
        aliases = try read.texts("aliases").filter { !$0.isEmpty }
        guard let connector = try read.text("connector") ?? defaults.connector else {
            throw Problem("the column connector is empty; fill it, or say --connector NAME")
        }
        self.connector = connector
        environment = try read.text("environment") ?? defaults.environment
        occurredAt = try read.time("occurred_at") ?? defaults.occurredAt
        guard occurredAt <= defaults.now else {
            throw Problem("occurred_at, \(occurredAt), lies in the future")
        }
        fields = try Self.fields(read)
        guard !fields.isEmpty else {
            throw Problem("it says nothing of the subscription; fill status, product_id, …")
        }
    }

    private static func fields(_ read: RowReader) throws(Problem) -> JSONObject {
        var fields = JSONObject()
        for name in ["product_id", "pending_product_id", "period_type", "store"] {
            fields[name] = try read.text(name).map { .string($0) }
        }
        if let status = try read.text("status") {
            guard statuses.contains(status) else {
                throw Problem(
                    "\"\(status.prefix(64))\" is no status; there are "
                        + statuses.joined(separator: ", "))
            }
            fields["status"] = .string(status)
        }
        for name in times {
            fields[name] = try read.time(name).map { .string($0.description) }
        }
        fields["will_renew"] = try read.truth("will_renew").map { .bool($0) }
        fields["price"] = try read.price()
        return fields
    }

    /// The input that the row becomes. The same row as of the same time makes the same one.
    func event(now: Instant) -> Event {
        let content: JSONValue = [
            "customer": .string(customer), "environment": .string(environment),
            "subscription": .string(subscription), "at": .string(occurredAt.description),
            "fields": .object(fields),
        ]
        return Event.imported(
            connector: connector, row: SHA256.hex(content.bytes),
            person: Event.Person(id: customer, aliases: aliases.filter { $0 != customer }),
            environment: environment, subscription: subscription, fields: fields,
            occurredAt: occurredAt, now: now)
    }

    var json: JSONValue {
        var row = JSONObject([
            ("customer_id", .string(customer)), ("connector", .string(connector)),
            ("subscription_key", .string(subscription)),
        ])
        for (name, value) in fields { row[name] = value }
        row["environment"] = .string(environment)
        row["occurred_at"] = .string(occurredAt.description)
        return .object(row)
    }
}

/// Reads cells: JSON values as they are, CSV cells as texts.
private struct RowReader {
    let row: JSONObject

    typealias Problem = SubscriptionRow.Problem

    func text(_ name: String) throws(Problem) -> String? {
        guard let value = row[name], !value.isNull else { return nil }
        switch value {
        case .string(let text): return text.isEmpty ? nil : text
        case .number(let number): return number.int64.map { String($0) } ?? number.literal
        case .null, .bool, .array, .object: throw Problem("\(name) is \(value.kind), not text")
        }
    }

    func id(_ name: String, longest: Int) throws(Problem) -> String {
        guard let text = try text(name) else { throw Problem("the column \(name) is empty") }
        guard text.utf8.count <= longest else {
            throw Problem("\(name) has more than \(longest) bytes")
        }
        return text
    }

    /// A list, or a text whose parts are set apart by `|`.
    func texts(_ name: String) throws(Problem) -> [String] {
        if let items = row[name]?.array {
            let texts = items.compactMap(\.string)
            guard texts.count == items.count, texts.count <= 50 else {
                throw Problem("\(name) must hold at most 50 texts")
            }
            return texts
        }
        return try text(name).map { $0.split(separator: "|").map(String.init) } ?? []
    }

    /// RFC 3339, or whole milliseconds or seconds since 1970.
    func time(_ name: String) throws(Problem) -> Instant? {
        guard let text = try text(name) else { return nil }
        if let instant = Instant(text) { return instant }
        if let number = Int64(text), number > 0 {
            // Seconds of the year 5138 and milliseconds of 1973 have the same digits.
            return Instant(milliseconds: number < 100_000_000_000 ? number * 1_000 : number)
        }
        throw Problem(
            "\(name) is no time: \"\(text.prefix(64))\"; write RFC 3339, such as 2026-11-30T10:00:00Z"
        )
    }

    func truth(_ name: String) throws(Problem) -> Bool? {
        if let value = row[name]?.bool { return value }
        switch try text(name)?.lowercased() {
        case nil: return nil
        case "true"?, "yes"?, "1"?: return true
        case "false"?, "no"?, "0"?: return false
        case let word?: throw Problem("\(name) is \"\(word.prefix(64))\"; write true or false")
        }
    }

    /// `price`, an object of `amount` and `currency`, or the two columns.
    func price() throws(Problem) -> JSONValue? {
        var parts = (try text("price_amount"), try text("price_currency"))
        if let price = row["price"], !price.isNull {
            guard let object = price.object else {
                throw Problem(
                    "price is \(price.kind); write {\"amount\": \"9.99\", \"currency\": \"USD\"}, or "
                        + "the columns price_amount and price_currency")
            }
            let reader = RowReader(row: object)
            parts = (try reader.text("amount"), try reader.text("currency"))
        }
        guard parts.0 != nil || parts.1 != nil else { return nil }
        guard let amount = parts.0, let currency = parts.1,
            let number = try? JSONParser.parse(Array(amount.utf8)), number.number != nil,
            currency.utf8.count == 3
        else {
            throw Problem("a price is a decimal amount and a currency of three letters")
        }
        return ["amount": .string(amount), "currency": .string(currency.uppercased())]
    }
}
