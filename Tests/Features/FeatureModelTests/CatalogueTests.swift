import FeatureModel
import JSON
import Testing

struct CatalogueTests {
    private func problems(_ text: String, _ others: [String] = []) -> [String] {
        let files = ([text] + others).enumerated().map { index, text in
            CatalogueReader.File(name: "\(index).json", bytes: Array(text.utf8))
        }
        return CatalogueReader.read(files).diagnostics.map(\.description)
    }

    @Test func `a published catalogue reads back as it was`() throws {
        let bytes = World.catalogue.document.canonicalBytes
        #expect(try Catalogue(published: bytes) == World.catalogue)
        #expect(try Catalogue(published: bytes).document.canonicalBytes == bytes)
    }

    @Test func `a product may grant a feature of another file`() {
        #expect(
            problems(
                #"{"dsl": 1, "products": {"p": {"entitlements": [{"feature": "f"}]}}}"#,
                [#"{"dsl": 1, "features": {"f": {"type": "boolean"}}}"#]
            ).isEmpty)
    }

    @Test(arguments: [
        (#"{"dsl": 2}"#, "0.json:1:2: error: A catalogue file says \"dsl\": 1. (at /dsl)"),
        (#"[]"#, "0.json:1:1: error: A catalogue file is one object"),
        (#"{"dsl": 1,"#, "0.json:1:11: error: The file is no JSON"),
        (#"{"dsl": 1, "feature": {}}"#, "Did you mean \"features\"? (at /feature)"),
        (
            #"{"dsl": 1, "features": {"f": {"type": "credits"}}}"#,
            "A feature's type is boolean, metered or creditSystem."
        ),
        (#"{"dsl": 1, "features": {"a b": {"type": "boolean"}}}"#, "A key is 1 to 128 of"),
        (
            #"{"dsl": 1, "features": {"f": {"type": "metered", "costs": {"g": 1}}}}"#,
            "Only a creditSystem has costs"
        ),
        (
            #"{"dsl": 1, "features": {"upscales": {"type": "metered"}, "w": {"type": "creditSystem", "costs": {"upscale": 1}}}}"#,
            "Only a metered feature of the catalogue can draw on a wallet. Did you mean \"upscales\"?"
        ),
        (
            #"{"dsl": 1, "features": {"f": {"type": "metered"}, "w": {"type": "creditSystem", "costs": {"f": 0}}}}"#,
            "A cost is a whole number of credits from 1. (at /features/w/costs/f)"
        ),
        (
            #"{"dsl": 1, "features": {"f": {"type": "metered"}, "w": {"type": "creditSystem", "costs": {"f": 1}}, "v": {"type": "creditSystem", "costs": {"f": 1}}}}"#,
            "draws on w already"
        ),
        (
            #"{"dsl": 1, "products": {"p": {"entitlements": []}}}"#,
            "A product has 1 to 100 entitlements."
        ),
        (
            #"{"dsl": 1, "features": {"premium": {"type": "boolean"}}, "products": {"p": {"entitlements": [{"feature": "premum"}]}}}"#,
            "An entitlement names a feature of the catalogue. Did you mean \"premium\"?"
        ),
        (
            #"{"dsl": 1, "features": {"f": {"type": "boolean"}}, "products": {"p": {"entitlements": [{"feature": "f", "allowance": 1}]}}}"#,
            "is boolean and has no allowance"
        ),
        (
            #"{"dsl": 1, "features": {"f": {"type": "metered"}}, "products": {"p": {"entitlements": [{"feature": "f"}]}}}"#,
            "An allowance of f is a whole number from 1"
        ),
        (
            #"{"dsl": 1, "features": {"f": {"type": "metered"}}, "products": {"p": {"entitlements": [{"feature": "f", "allowance": 1, "interval": "months"}]}}}"#,
            "Did you mean \"month\"?"
        ),
        (
            #"{"dsl": 1, "features": {"f": {"type": "metered"}}, "products": {"p": {"entitlements": [{"feature": "f", "allowance": 1, "every": 2}]}}}"#,
            "A lifetime is not repeated"
        ),
        (
            #"{"dsl": 1, "features": {"f": {"type": "metered"}}, "products": {"p": {"entitlements": [{"feature": "f", "allowance": "unlimited", "interval": "month"}]}}}"#,
            "Only a counted allowance has an interval"
        ),
        (
            #"{"dsl": 1, "features": {"f": {"type": "metered"}}, "products": {"p": {"entitlements": [{"feature": "f", "allowance": 1, "entities": 0}]}}}"#,
            "for how many entities at most"
        ),
        (
            #"{"dsl": 1, "features": {"f": {"type": "boolean"}}, "products": {"p": {"lasts_days": 0, "family_sharing": 1, "app_store": ["x", "x"], "entitlements": [{"feature": "f"}]}}}"#,
            "from 1 to 36600"
        ),
    ])
    func `what is wrong is said with its place and what to write`(text: String, part: String) {
        let found = problems(text)
        #expect(found.contains { $0.contains(part) }, "\(found)")
    }

    @Test func `a feature or an App Store product that stands twice is refused`() {
        let text =
            #"{"dsl": 1, "features": {"f": {"type": "boolean"}}, "products": {"p": {"app_store": ["x"], "entitlements": [{"feature": "f"}]}}}"#
        let other = text.replacingP(with: "q")
        let found = problems(text, [other])
        #expect(found.contains { $0.contains("The feature f is in another file too") })
        #expect(found.contains { $0.contains("The App Store product x stands for p already") })
    }

    @Test func `a published feature neither goes away nor changes its type`() throws {
        let earlier = World.catalogue
        var later = earlier
        later.products = [:]
        #expect(later.obstacles(after: earlier).isEmpty)
        later.features[Key(checked: "premium")] = nil
        later.features[Key(checked: "generations")] = FeatureDefinition(
            key: Key(checked: "generations"), type: .boolean)
        let sentences = later.obstacles(after: earlier)
        #expect(sentences.count == 2)
        #expect(sentences[0].contains("generations is published as metered"))
        #expect(sentences[1].contains("premium is published and is missing"))
    }
}

extension String {
    fileprivate func replacingP(with name: String) -> String {
        split(separator: "\"p\"", omittingEmptySubsequences: false).joined(
            separator: "\"\(name)\"")
    }
}
