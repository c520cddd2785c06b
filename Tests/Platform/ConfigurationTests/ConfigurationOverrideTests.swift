import Configuration
import JSON
import Testing
import TimeZones

@Suite struct ConfigurationOverrideTests {
    @Test func `a variable overrides a scalar as the kind that is wanted`() {
        let environment = [
            "JOURNEY_DATABASE__URL": "12", "JOURNEY_DATABASE__POOL": "16", "JOURNEY_ON": "true",
            "JOURNEY_RETENTION__FORGET_REMEMBER": "P7D", "JOURNEY_OPS_SLACK__RATE": "1.50",
            "JOURNEY_HOSTS": #"["x","y"]"#, "JOURNEY_ONE": "z", "OTHER": "1",
        ]
        let found = reading(#"{"database": {"url": "a", "pool": 1}}"#, environment: environment) {
            reader in
            let database = reader.object("database")
            let retention = reader.object("retention")
            return [
                database.requiredString("url"),
                "\(database.integer("pool", in: 1...64, default: 0))",
                "\(reader.bool("on", default: false))",
                retention.duration(
                    "forget.remember", in: .zero ... .seconds(9_999_999), default: .zero
                ).iso8601,
                reader.object("ops-slack").value("rate")?.text ?? "",
                "\(reader.stringArray("hosts") ?? [])", "\(reader.stringArray("one") ?? [])",
            ]
        }
        #expect(found.problems == [])
        #expect(found.value == ["12", "16", "true", "P7D", "1.50", #"["x", "y"]"#, #"["z"]"#])
    }

    @Test func `a variable of the wrong kind or for nothing is a problem`() {
        let environment = [
            "JOURNEY_POOL": "many", "JOURNEY_ON": "yes", "JOURNEY_POLL": "1", "JOURNEY_CONFIG": "x",
            "JOURNEY_pool": "2",
        ]
        let found = reading("{}", environment: environment, ignoring: ["JOURNEY_CONFIG"]) {
            reader in
            _ = reader.integer("pool", in: 0...9)
            _ = reader.bool("on", default: false)
        }
        #expect(
            found.problems == [
                "/pool: The variable JOURNEY_POOL must hold a whole number.",
                "/on: The variable JOURNEY_ON must hold true or false.",
                "the whole file: The variable JOURNEY_POLL overrides nothing that is known; unset it "
                    + "or correct its name.",
                "the whole file: The variable JOURNEY_pool overrides nothing that is known; unset it "
                    + "or correct its name.",
            ])
    }

    @Test func `an optional object exists when a variable sets something in it`() {
        let found = reading("{}", environment: ["JOURNEY_TLS__KEY": "/k"]) { reader in
            reader.optionalObject("tls")?.string("key")
        }
        #expect(found.value == "/k")
        #expect(reading("{}") { $0.optionalObject("tls") == nil }.value == true)
        let unread = reading("{}", environment: ["JOURNEY_TLS__KEY": "/k"]) { $0.has("tls") }
        #expect(unread.problems.count == 1)
    }
}
