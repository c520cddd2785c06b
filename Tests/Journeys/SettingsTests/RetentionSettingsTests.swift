import JSON
import Testing

/// `retention` keeps what the product promises.
@Suite struct RetentionSettingsTests {
    // S16.3
    @Test(
        arguments: [
            (["raw_bodies": "PT1H"], "/retention/raw_bodies"),
            (["events": "P31D"], "/retention/events"),
            (["ids": "P29D"], "/retention/ids"), (["for_ever": true], "/retention/for_ever"),
            (["raw_bodies": "P100D", "events": "P90D"], "no longer than events"),
        ] as [(JSONValue, String)])
    func `a retention that breaks what the product promises is refused`(
        retention: JSONValue, what: String
    ) {
        let problems = SettingsWorld.problems(
            SettingsWorld.json(JSONObject([("retention", retention)])))
        #expect(problems.contains { $0.contains(what) }, "\(problems)")
    }
}
