internal import JSON

// A line is a checksum of eight digits, a blank, and JSON. A line that was cut or damaged says so itself.

extension JournalRecord {
    var line: [UInt8] {
        let body = JSONValue.object(json).bytes
        let digits = String(Checksum.crc32(body), radix: 16)
        let padded = String(repeating: "0", count: 8 - digits.utf8.count) + digits
        return Array(padded.utf8) + [0x20] + body + [0x0a]
    }

    /// - Parameter line: without its end.
    init?(line: some Collection<UInt8>) {
        let bytes = Array(line)
        guard bytes.count > 10, bytes[8] == 0x20,
            let sum = UInt32(String(decoding: bytes[..<8], as: UTF8.self), radix: 16),
            sum == Checksum.crc32(bytes[9...]),
            let json = try? JSONParser.parse(Array(bytes[9...])),
            let record = Self.read(json)
        else { return nil }
        self = record
    }

    private var json: JSONObject {
        var json = JSONObject()
        switch self {
        case .operation(let id, let operation):
            json["id"] = .integer(id)
            switch operation {
            case .use(let command): json["use"] = .object(command.json)
            case .event(let item): json["event"] = .object(item.json)
            case .submit(let transaction): json["submit"] = .string(transaction)
            }
        case .postponed(let id, let attempts, let until):
            json["postponed"] = .integer(id)
            json["attempts"] = .integer(attempts)
            json["until"] = .integer(until)
        case .finished(let id): json["finished"] = .integer(id)
        case .evidence(let item): json["evidence"] = .object(item.json)
        case .settled(let transaction): json["settled"] = .string(transaction)
        case .identity(let identity):
            var who = JSONObject([("anonymous", .string(identity.anonymous))])
            if let name = identity.identified { who["identified"] = .string(name) }
            json["identity"] = .object(who)
        }
        return json
    }

    private static func read(_ json: JSONValue) -> JournalRecord? {
        if let id = json["id"]?.integer {
            let operation: Operation?
            if let use = json["use"] {
                operation = UsageCommand(json: use).map { .use($0) }
            } else if let event = json["event"] {
                operation = EventItem(json: event).map { .event($0) }
            } else {
                operation = (json["submit"]?.string).map { .submit(transaction: $0) }
            }
            return operation.map { .operation(id: Int(id), $0) }
        }
        if let id = json["postponed"]?.integer, let attempts = json["attempts"]?.integer,
            let until = json["until"]?.integer
        {
            return .postponed(id: Int(id), attempts: Int(attempts), until: until)
        }
        if let id = json["finished"]?.integer { return .finished(id: Int(id)) }
        if let item = json["evidence"] { return Evidence(json: item).map { .evidence($0) } }
        if let transaction = json["settled"]?.string { return .settled(transaction: transaction) }
        if let who = json["identity"], let anonymous = who["anonymous"]?.string {
            return .identity(
                Identity(identified: who["identified"]?.string, anonymous: anonymous))
        }
        return nil
    }
}

extension UsageCommand {
    fileprivate var json: JSONObject {
        var json = Wire.consume(self, signed: nil)
        json["caller"] = .string(caller.rawValue)
        if let transaction { json["transaction"] = .string(transaction) }
        return json
    }

    fileprivate init?(json: JSONValue) {
        guard let customer = json["customerId"]?.string, let feature = json["featureId"]?.string,
            let operation = json["operationId"]?.string,
            let quantity = json["quantity"]?.integer,
            let caller = json["caller"]?.string.flatMap(Caller.init(rawValue:))
        else { return nil }
        self.init(
            customer: customer, feature: feature, operation: operation, quantity: Int(quantity),
            entity: json["entityId"]?.string, isTotal: json["mode"] != nil,
            metadata: json["metadata"]?.object, caller: caller,
            transaction: json["transaction"]?.string)
    }
}

extension EventItem {
    fileprivate var json: JSONObject {
        var json = JSONObject()
        json["name"] = .string(name)
        json["customer"] = .string(customer)
        json["id"] = .string(id)
        json["at"] = .integer(occurredAt)
        json["properties"] = .object(properties)
        return json
    }

    fileprivate init?(json: JSONValue) {
        guard let name = json["name"]?.string, let customer = json["customer"]?.string,
            let id = json["id"]?.string, let at = json["at"]?.integer,
            let properties = json["properties"]?.object
        else { return nil }
        self.init(name: name, customer: customer, id: id, occurredAt: at, properties: properties)
    }
}

extension Evidence {
    fileprivate var json: JSONObject {
        var json = JSONObject()
        json["transaction"] = .string(transaction)
        json["original"] = .string(original)
        json["product"] = .string(storeProduct)
        json["signed"] = .string(signed)
        json["customer"] = .string(customer)
        json["revoked"] = .bool(isRevoked)
        json["finish"] = .bool(isFinishedHere)
        json["grants"] = .array(
            grants.map { grant in
                [
                    "feature": .string(grant.feature), "type": .string(grant.type),
                    "unlimited": .bool(grant.isUnlimited), "allowance": .integer(grant.allowance),
                ]
            })
        return json
    }

    fileprivate init?(json: JSONValue) {
        guard let transaction = json["transaction"]?.string,
            let original = json["original"]?.string, let product = json["product"]?.string,
            let signed = json["signed"]?.string, let customer = json["customer"]?.string
        else { return nil }
        self.init(
            transaction: transaction, original: original, storeProduct: product, signed: signed,
            customer: customer,
            grants: (json["grants"]?.array ?? []).compactMap { grant in
                guard let feature = grant["feature"]?.string, let type = grant["type"]?.string
                else { return nil }
                return Grant(
                    feature: feature, type: type,
                    isUnlimited: grant["unlimited"]?.bool ?? false,
                    allowance: Int(grant["allowance"]?.integer ?? 0))
            }, isRevoked: json["revoked"]?.bool ?? false,
            isFinishedHere: json["finish"]?.bool ?? false)
    }
}

/// The checksum of zip and Ethernet.
enum Checksum {
    static func crc32(_ bytes: some Sequence<UInt8>) -> UInt32 {
        var sum: UInt32 = 0xffff_ffff
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xedb8_8320 : sum >> 1 }
        }
        return ~sum
    }
}
