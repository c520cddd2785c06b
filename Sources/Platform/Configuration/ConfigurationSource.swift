internal import JSON

/// The text of one configuration file together with the environment that may override it.
///
/// A product reads it once through ``read(_:)``, which hands out a ``ConfigurationReader`` and
/// afterwards throws everything that was wrong, not only the first thing.
package struct ConfigurationSource: Sendable {
    /// The longest file that is read: 1 MiB.
    package static let sizeLimit = 1_048_576

    /// What problems call the text: the path of the file.
    package let place: String
    let bytes: [UInt8]
    let environment: [String: String]
    let prefix: String
    let ignored: Set<String>

    /// A configuration from bytes already at hand.
    ///
    /// - Parameters:
    ///   - bytes: one JSON object; at most ``sizeLimit`` bytes.
    ///   - environment: where `{"env": …}` secrets and overrides are looked up.
    ///   - prefix: begins the names of overriding variables; every other variable is left alone.
    ///   - ignoring: whole names that begin with `prefix` but mean something else.
    package init(
        bytes: [UInt8], environment: [String: String], place: String = "configuration",
        prefix: String = "JOURNEY_", ignoring: Set<String> = []
    ) {
        self.place = place
        self.bytes = bytes
        self.environment = environment
        self.prefix = prefix
        ignored = ignoring
    }

    /// A configuration without a file: defaults and overrides only.
    package static func withoutFile(
        environment: [String: String], prefix: String = "JOURNEY_", ignoring: Set<String> = []
    ) -> ConfigurationSource {
        ConfigurationSource(
            bytes: Array("{}".utf8), environment: environment, place: "the environment",
            prefix: prefix, ignoring: ignoring)
    }

    /// A configuration from a file.
    ///
    /// - Throws: a rejection with one problem when the file cannot be read or is past ``sizeLimit``.
    package static func file(
        _ path: String, environment: [String: String], prefix: String = "JOURNEY_",
        ignoring: Set<String> = []
    ) throws(ConfigurationRejection) -> ConfigurationSource {
        do {
            return ConfigurationSource(
                bytes: try BoundedFile.read(path, limit: sizeLimit), environment: environment,
                place: path, prefix: prefix, ignoring: ignoring)
        } catch {
            let problem = ConfigurationProblem(
                pointer: JSONPointer(),
                sentence: "\(error.description) Name another with --config.")
            throw ConfigurationRejection(place: path, problems: [problem])
        }
    }

    /// Reads the configuration, then looks for keys and overrides that nothing asked for.
    ///
    /// - Parameter body: makes the product's value. Where something is missing or wrong the reader
    ///   notes it and answers with a stand-in, so that reading goes on; the value made of stand-ins
    ///   never gets out, because then this function throws.
    /// - Throws: all problems, in the order of the text.
    package func read<Value>(
        _ body: (ConfigurationReader) -> Value
    ) throws(ConfigurationRejection) -> Value {
        let session = try openSession()
        let reader = session.root
        let value = body(reader)
        session.noteUnread()
        guard session.problemCount == 0 else {
            throw ConfigurationRejection(place: place, problems: session.problemsInOrder)
        }
        return value
    }

    private func openSession() throws(ConfigurationRejection) -> ReadingSession {
        guard bytes.count <= Self.sizeLimit else {
            let sentence = "The text is longer than \(Self.sizeLimit) bytes; split it or trim it."
            throw rejection(sentence, at: nil)
        }
        let document: JSONParser.Document
        do {
            document = try JSONParser.parseDocument(bytes, options: .definition)
        } catch {
            throw rejection(
                "The file is not usable JSON: \(error); mend it there.", at: error.offset)
        }
        guard let members = document.value.object else {
            let sentence = "The file holds \(document.value.kind); it must hold an object, {…}."
            throw rejection(sentence, at: 0)
        }
        return ReadingSession(source: self, document: document, members: members)
    }

    private func rejection(_ sentence: String, at offset: Int?) -> ConfigurationRejection {
        let position = offset.map { lineAndColumn(ofByte: $0, in: bytes) }
        let problem = ConfigurationProblem(
            pointer: JSONPointer(), line: position?.line, column: position?.column,
            sentence: sentence)
        return ConfigurationRejection(place: place, problems: [problem])
    }
}
