internal import Crypto
internal import JSON
internal import TimeZones

/// A provider's webhook whose ids are filled in for each request: signed as the provider signs.
///
/// Event ids and people's ids have a fixed width, so that filling in is copying some bytes and the
/// load generator takes little from the product it shares the cores with.
struct WebhookTemplate: Sendable {
    /// Of every body.
    static let bodyBytes = 2_048
    /// `bench-`, eight characters of the run, `-`, nine digits.
    static let idWidth = 24
    /// People that the events are spread over; each is `user-` and seven digits.
    static let people = 50_000

    enum Signature: Sendable {
        /// A fixed `Authorization` value.
        case authorization(String)
        /// Standard Webhooks under this key.
        case standardWebhooks(HMACSHA256)
    }

    let connector: String
    let signature: Signature
    private let body: [UInt8]
    private let idPlaces: [Int]
    private let personPlaces: [Int]

    private static let idMark = String(repeating: "#", count: idWidth)
    private static let personMark = "user-" + String(repeating: "#", count: 7)

    /// - Parameter fields: the text of a JSON object with the two marks; it is filled up to
    ///   ``bodyBytes`` with text that compresses about as well as ids do.
    private init(connector: String, signature: Signature, fields: String) {
        self.connector = connector
        self.signature = signature
        var text = Array(fields.utf8.dropLast()) + Array(", \"padding\": \"".utf8)
        var state: UInt64 = 0x9e37_79b9_7f4a_7c15
        let letters = Array("0123456789abcdef".utf8)
        while text.count < Self.bodyBytes - 2 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            text.append(letters[Int(state >> 60)])
        }
        text += Array("\"}".utf8)
        precondition(text.count == Self.bodyBytes, "the template is longer than a body")
        body = text
        idPlaces = Self.places(of: Self.idMark, in: text)
        personPlaces = Self.places(of: Self.personMark, in: text)
    }

    private static func places(of mark: String, in text: [UInt8]) -> [Int] {
        let mark = Array(mark.utf8)
        return text.indices.filter { text[$0...].starts(with: mark) }
    }

    static func eventID(run: String, number: Int) -> String { "bench-\(run)-\(digits(number, 9))" }

    static func personID(_ number: Int) -> String { "user-" + digits(number % people, 7) }

    private static func digits(_ number: Int, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }

    // MARK: Filling in

    func body(id: String, person: String) -> [UInt8] {
        var filled = body
        for (places, text) in [(idPlaces, id), (personPlaces, person)] {
            let bytes = Array(text.utf8)
            for place in places {
                filled.replaceSubrange(place..<place + bytes.count, with: bytes)
            }
        }
        return filled
    }

    /// A whole HTTP request.
    func request(run: String, number: Int, sentAt: Instant) -> [UInt8] {
        let id = Self.eventID(run: run, number: number)
        let body = body(id: id, person: Self.personID(number))
        var head = """
            POST /v1/webhooks/\(connector) HTTP/1.1\r
            Host: 127.0.0.1\r
            Content-Type: application/json\r
            Content-Length: \(body.count)\r

            """
        switch signature {
        case .authorization(let value): head += "Authorization: \(value)\r\n"
        case .standardWebhooks(let key):
            let seconds = sentAt.milliseconds / 1_000
            let code = StandardWebhooksSignature.sign(
                id: id, timestampSeconds: seconds, body: body, key: key)
            head +=
                "webhook-id: \(id)\r\nwebhook-timestamp: \(seconds)\r\nwebhook-signature: \(code)\r\n"
        }
        return Array((head + "\r\n").utf8) + body
    }

    // MARK: The two providers

    static func revenueCat(secret: String) -> WebhookTemplate {
        WebhookTemplate(
            connector: "revenuecat", signature: .authorization(secret),
            fields: """
                {"api_version": "1.0", "event": {"id": "\(idMark)", "type": "INITIAL_PURCHASE", \
                "event_timestamp_ms": 1772442004000, "app_id": "appb5e0c5a1d2", \
                "app_user_id": "\(personMark)", "original_app_user_id": "\(personMark)", \
                "aliases": ["\(personMark)"], "product_id": "example.pro.monthly", \
                "entitlement_ids": ["pro"], "presented_offering_id": "default", \
                "period_type": "TRIAL", "purchased_at_ms": 1772442000000, \
                "expiration_at_ms": 1773046800000, "store": "APP_STORE", \
                "environment": "PRODUCTION", "transaction_id": "\(idMark)", \
                "original_transaction_id": "\(personMark)", "is_family_share": false, \
                "country_code": "DE", "currency": "EUR", "price": 0.0, \
                "price_in_purchased_currency": 0.0, "tax_percentage": 0.1597, \
                "commission_percentage": 0.1259, "takehome_percentage": 0.85, \
                "offer_code": null, "renewal_number": 1}}
                """)
    }

    static func superwall(key: HMACSHA256) -> WebhookTemplate {
        WebhookTemplate(
            connector: "superwall", signature: .standardWebhooks(key),
            fields: """
                {"object": "event", "type": "initial_purchase", "projectId": 5012, \
                "applicationId": 7, "timestamp": 1772722811000, "data": {"id": "\(idMark)", \
                "name": "initial_purchase", "ts": 1772722806000, \
                "originalAppUserId": "\(personMark)", "productId": "example.plus.yearly", \
                "periodType": "TRIAL", "price": 0, "proceeds": 0, \
                "priceInPurchasedCurrency": 0, "currencyCode": "USD", "exchangeRate": 1.0, \
                "taxPercentage": 0, "commissionPercentage": 0.15, "takehomePercentage": 0.85, \
                "isSmallBusiness": true, "purchasedAt": 1772722800000, \
                "expirationAt": 1773327600000, "transactionId": "\(idMark)", \
                "originalTransactionId": "\(personMark)", "store": "PLAY_STORE", \
                "environment": "PRODUCTION", "isFamilyShare": false, \
                "isTrialConversion": false, "cancelReason": null, "countryCode": "US", \
                "bundleId": "com.example.plus", "userAttributes": {"appUserId": "\(personMark)"}}}
                """)
    }
}
