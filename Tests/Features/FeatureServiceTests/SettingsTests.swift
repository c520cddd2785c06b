import Configuration
import JSON
import Testing

@testable import FeatureService

struct SettingsTests {
    private func problems(_ json: JSONValue) -> [String] {
        do throws(ConfigurationRejection) {
            _ = try FeatureSettings.read(ConfigurationSource(bytes: json.bytes, environment: [:]))
            return []
        } catch {
            return error.problems.map { "\($0.pointer) \($0.sentence)" }
        }
    }

    @Test func `little is needed`() {
        #expect(
            problems([
                "allow_literal_secrets": true, "database": ["url": "dbname=x"],
                "log": ["format": "text"],
            ]).isEmpty)
    }

    @Test(arguments: [
        (#"{"extra": true}"#, "/extra"),
        (#"{"listen": {"public": "8081"}}"#, "/listen/public"),
        (#"{"listen": {"port": 1}}"#, "/listen/port"),
        (#"{"keys": {"app": {"public_key": "short"}}}"#, "/keys/app/public_key"),
        (#"{"keys": {"app": {}}}"#, "/keys/app/public_key"),
        (
            #"{"keys": {"a": {"public_key": "pk_live_1"}, "b": {"public_key": "pk_live_1"}}}"#,
            "/keys/b/public_key"
        ),
        (
            #"{"keys": {"app": {"public_key": "pk_live_1", "environment": "test"}}}"#,
            "/keys/app/environment"
        ),
        (
            #"{"keys": {"app": {"public_key": "pk_live_1", "rate_per_second": 0}}}"#,
            "/keys/app/rate_per_second"
        ),
        (#"{"app_store": {"roots": ["root.cer"]}}"#, "/app_store/roots"),
        (#"{"app_store": {"bundle_id": "x"}}"#, "/app_store/bundle_id"),
        (#"{"limits": {"in_flight": 0}}"#, "/limits/in_flight"),
        (#"{"database": {}}"#, "/database/url"),
    ])
    func `what is wrong is named by its place`(change: String, pointer: String) throws {
        var json = JSONObject([
            ("allow_literal_secrets", true), ("database", ["url": "dbname=x"]),
            ("keys", ["app": ["public_key": "pk_live_1"]]),
        ])
        for (name, value) in try #require(try JSONParser.parse(change).object) {
            json[name] = value
        }
        let found = problems(.object(json))
        #expect(found.contains { $0.hasPrefix(pointer + " ") }, "\(found)")
    }
}
